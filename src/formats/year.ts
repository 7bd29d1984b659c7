import { InvalidJson, readJsonObject } from '../json/json-object.ts';

/** Reads an integer within ±(2^53 - 1), which may have leading zeros, a fraction of zeros, or an exponent. */
export function readInteger(text: string): number | undefined {
  if (SHORT_NUMBER.test(text)) return Number(text);
  const literal = text.trim();
  if (!NUMBER.test(literal)) return undefined;
  // JSON has neither leading zeros nor a point without digits after it.
  const json = literal.replace(/^(-?)0+(?=[0-9])/, '$1').replace(/\.(?![0-9])/, '');
  const object = new TextEncoder().encode(`{"number":${json}}`);
  const read = readJsonObject(object, { number: 'integer' });
  // Adding 0 makes -0 0.
  return read instanceof InvalidJson ? undefined : (read.number as number) + 0;
}

/**
 * Reads an integer, or the year of an unambiguous date (`2019-03-05`, also with a time, `2019/3/5`, `5.3.2019`,
 * `March 5, 2019`, `5 Mar 2019`, `March 2019`). An empty text is the year 0.
 */
export function readYear(text: string): number | undefined {
  const number = readInteger(text);
  if (number !== undefined) return number;
  const trimmed = text.trim();
  if (trimmed === '' || UNKNOWN_DATE.test(trimmed)) return 0;
  const date = DATES.find((pattern) => pattern.test(trimmed))?.exec(trimmed);
  return date ? Number(date.groups?.year) : undefined;
}

const SHORT_NUMBER = /^(0|-?[1-9][0-9]{0,14})$/;
const NUMBER = /^-?[0-9]+(\.[0-9]*)?(e[+-]?[0-9]+)?$/i;

/** Calibre's value for an unknown date, in any time zone. */
const UNKNOWN_DATE = /^(0101-01-01|0100-12-31)T/;

const MONTH =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?';
const DAY = '[0-9]{1,2}(?:st|nd|rd|th)?';

const DATES = [
  /^(?<year>-?[0-9]{4})-[0-9]{2}(?:-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}.*)?)?$/,
  /^(?<year>[0-9]{4})(?<mark>[/.])[0-9]{1,2}\k<mark>[0-9]{1,2}$/,
  /^[0-9]{1,2}(?<mark>[/.-])[0-9]{1,2}\k<mark>(?<year>[0-9]{4})$/,
  new RegExp(`^${MONTH}(?: ${DAY})?,? (?<year>[0-9]{4})$`, 'i'),
  new RegExp(`^${DAY} ${MONTH},? (?<year>[0-9]{4})$`, 'i'),
];
