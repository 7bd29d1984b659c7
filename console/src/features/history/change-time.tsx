import { language } from '../../language/language.ts';

/** The time of a change in the language, the region and the time zone of the reader; its date, if it is not today. */
export function ChangeTime({ at }: { at: string }) {
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  return (
    <time class="quiet small" dateTime={at} title={formatTime(at, 'full')}>
      {isToday ? formatTime(at, 'short', {}) : formatTime(at, 'short')}
    </time>
  );
}

/** @param style `full` has the time zone @param date empty for the time alone */
export function formatTime(
  at: string,
  style: 'full' | 'medium' | 'short' = 'medium',
  date: Intl.DateTimeFormatOptions = { dateStyle: style === 'short' ? 'medium' : style },
): string {
  const region = navigator.languages.find((tag) => tag.startsWith(language.value)) ?? language.value;
  return new Intl.DateTimeFormat(region, { ...date, timeStyle: style }).format(new Date(at));
}
