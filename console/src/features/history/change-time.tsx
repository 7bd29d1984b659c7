import { language } from '../../language/language.ts';

/** The time of a change in the language, the region and the time zone of the reader. */
export function ChangeTime({ at }: { at: string }) {
  return (
    <time dateTime={at} title={formatTime(at, 'full')}>
      {formatTime(at)}
    </time>
  );
}

/** @param style `full` has the time zone */
export function formatTime(at: string, style: 'full' | 'medium' = 'medium'): string {
  const region = navigator.languages.find((tag) => tag.startsWith(language.value)) ?? language.value;
  return new Intl.DateTimeFormat(region, { dateStyle: style, timeStyle: style }).format(new Date(at));
}
