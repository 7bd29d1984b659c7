import { readJsonObject } from '../book/json-object.ts';

/**
 * Reads a whole number from a text: digits, with leading zeros, a fraction of zeros or an exponent if need be.
 *
 * @returns undefined when it is not one within ±(2^53 - 1)
 */
export function readWholeNumber(text: string): number | undefined {
  if (SHORT_NUMBER.test(text)) return Number(text);
  const literal = text.trim();
  if (!NUMBER.test(literal)) return undefined;
  // JSON has no leading zeros, and no point without digits after it.
  const json = literal.replace(/^(-?)0+(?=[0-9])/, '$1').replace(/\.(?![0-9])/, '');
  const { number } =
    readJsonObject(new TextEncoder().encode(`{"number":${json}}`), { number: 'integer' }) ?? {};
  // Without a negative zero.
  return number === undefined ? undefined : number + 0;
}

/**
 * Reads a year from a text: a whole number, or the year of a date in which it cannot be mistaken (`2019-03-05`, also with a
 * time, `2019/3/5`, `5.3.2019`, `March 5, 2019`, `5 Mar 2019`, `March 2019`). No text is the year 0.
 *
 * @returns undefined when it is neither
 */
export function readYear(text: string): number | undefined {
  const number = readWholeNumber(text);
  if (number !== undefined) return number;
  const trimmed = text.trim();
  if (trimmed === '' || UNKNOWN_DATE.test(trimmed)) return 0;
  for (const date of DATES) {
    const year = date.exec(trimmed)?.groups?.year;
    if (year !== undefined) return Number(year);
  }
  return undefined;
}

const SHORT_NUMBER = /^(0|-?[1-9][0-9]{0,14})$/;
const NUMBER = /^-?[0-9]+(\.[0-9]*)?(e[+-]?[0-9]+)?$/i;

/** What Calibre writes where it knows no date, in any time zone. */
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
