import { texts } from '../language/language.ts';

/** A year as people write it. The service counts those before the common era downwards from 0. */
export function YearText({ year }: { year: number }) {
  if (year === 0) return <span class="absent">0</span>;
  return <>{formatYear(year)}</>;
}

/** A year in the language of the page: `1851`, `750 BC`. */
export function formatYear(year: number): string {
  return year < 0 ? texts.value.beforeCommonEra(-year) : String(year);
}
