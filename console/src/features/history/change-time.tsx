import { language } from '../../language/language.ts';
import { daysBetween } from './calendar.ts';

/** The time of a change on its day, in the language, the region and the time zone of the reader. */
export function ChangeTime({ at }: { at: string }) {
  return (
    <time class="quiet small" dateTime={at} title={formatTime(at, { dateStyle: 'full', timeStyle: 'full' })}>
      {formatTime(at, { timeStyle: 'short' })}
    </time>
  );
}

/** The day of a change: today, yesterday, or its date. */
export function formatDay(at: string): string {
  const days = daysBetween(new Date(), new Date(at));
  return days === 0 || days === -1
    ? new Intl.RelativeTimeFormat(language.value, { numeric: 'auto' }).format(days, 'day')
    : formatTime(at, { dateStyle: 'full' });
}

export function formatTime(
  at: string,
  style: Intl.DateTimeFormatOptions = { dateStyle: 'medium', timeStyle: 'medium' },
): string {
  const region = navigator.languages.find((tag) => tag.startsWith(language.value)) ?? language.value;
  return new Intl.DateTimeFormat(region, style).format(new Date(at));
}
