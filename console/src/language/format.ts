import { formatNumber, language } from './language.ts';

const PLURAL = /\{(\w+),\s*plural,((?:\s*=?\w+\s*\{(?:[^{}]|\{\w+\})*\})+)\s*\}/g;
const CASE = /(=?\w+)\s*\{((?:[^{}]|\{\w+\})*)\}/g;

/**
 * Fills in a text that is written in a subset of ICU MessageFormat: `{name}` is a value, and
 * `{count, plural, =0 {none} one {# book} other {# books}}` the case for a number, in which `#` is the number.
 */
export function formatMessage(message: string, values: Readonly<Record<string, string | number>>): string {
  return message
    .replace(PLURAL, (_, name: string, cases: string) => {
      const count = Number(values[name]);
      const texts = Object.fromEntries([...cases.matchAll(CASE)].map(([, key, text]) => [key, text]));
      const category = new Intl.PluralRules(language.value).select(count);
      return (texts[`=${count}`] ?? texts[category] ?? texts.other ?? '').replace('#', formatNumber(count));
    })
    .replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = values[name];
      return typeof value === 'number' ? formatNumber(value) : isolate(String(value));
    });
}

/** Isolates the direction of a text that is written from right to left, or partly so, from the text around it. */
function isolate(text: string): string {
  return /[\u0590-\u08FF\uFB1D-\uFEFC]/.test(text) ? `\u2068${text}\u2069` : text;
}
