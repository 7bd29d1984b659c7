import { InvalidJson, readJsonObject } from '../src/json/json-object.ts';

/** The greatest year of a book in a file, and the least one with a minus. Greater numbers there are dates, prices or ids. */
const YEAR_OF_BOOK_MAX = 9_999;

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
 * Reads the year of a book as catalogues and spreadsheets write it: a number, a date (`2019-03-05`, `5.3.2019`, `20190305`,
 * `March 2019`, `2000年5月`), a year of copyright (`c1999`, `cop. 1990`), a supplied or uncertain one (`[1999?]`), or one
 * before the common era (`44 BC`). An empty text is the year 0.
 *
 * @returns undefined for anything else, such as `1998-2001`, `ca. 1850`, `199-`, or a number that is no year
 */
export function readYear(text: string): number | undefined {
  if (SHORT_YEAR.test(text)) return Number(text);
  const plain = simplify(text);
  if (plain === '' || UNKNOWN.test(plain)) return 0;
  const number = readInteger(plain);
  if (number !== undefined) return yearOfNumber(number);
  const date = plain.replace(TIME, '');
  return readNumericDate(date) ?? readMarkedYear(date) ?? readDateInWords(date);
}

/** A year, or that of a date without separators. */
export function yearOfNumber(number: number): number | undefined {
  if (Math.abs(number) <= YEAR_OF_BOOK_MAX) return number;
  const [, year, month, day] = COMPACT_DATE.exec(String(number)) ?? [];
  return isMonthAndDay(month, day) ? Number(year) : undefined;
}

const SHORT_NUMBER = /^(0|-?[1-9][0-9]{0,14})$/;
const NUMBER = /^-?[0-9]+(\.[0-9]*)?(e[+-]?[0-9]+)?$/i;
const SHORT_YEAR = /^(0|-?[1-9][0-9]{0,3})$/;

/** Calibre's value for an unknown date, in any time zone; those of MySQL, R, pandas and Python for none. */
const UNKNOWN = /^(?:(?:0101-01-01|0100-12-31)T.*|\\N|null|na|nan|none)$/i;

/** `20190305`, also with a time (`20190305120000`, `20190305T120000Z`). */
const COMPACT_DATE = /^([0-9]{4})([0-9]{2})([0-9]{2})(?:T?[0-9]{4}(?:[0-9]{2})?Z?)?$/i;

const TIME = /(?:T|,? )[0-9]{1,2}:[0-9]{2}.*$/i;

/** Removes what says nothing about the year: brackets of cataloguers, doubt, marks of spreadsheets for a text, final punctuation. */
function simplify(text: string): string {
  return (
    text
      .replace(/\p{Cf}/gu, '')
      .normalize('NFKC')
      .replace(/[\u2010-\u2013\u2212]/g, '-')
      .replace(/\s+/g, ' ')
      .replace(/[[\]]/g, '')
      .trim()
      .replace(/^<(.*)>$/, '$1')
      .replace(/^="(.*)"$|^'(.*?)'?$|^"(.*)"$/, '$1$2$3')
      .replace(/^\(([^()]*)\)(?= ?\??$)/, '$1')
      .replace(/(?<=[0-9]{4}|[a-z.]) ?(?:\?|\(\?\))(?=[ .,;]|$)/i, '')
      // A decimal comma, as German Access writes.
      .replace(/^(-?[0-9]{1,4}),0{1,2}$/, '$1')
      .replace(/[ ,;:/]+$/, '')
      .trim()
  );
}

/** Each has the groups `year` and one or two numbers that are a month and a day. */
const NUMERIC_DATES = [
  /^[+-]?(?<year>[0-9]{4})(?<mark>[-/.]) ?(?<one>[0-9]{1,2})(?: ?\k<mark> ?(?<other>[0-9]{1,2})\.?)?$/,
  /^(?<one>[0-9]{1,2}) ?(?<mark>[-/.]) ?(?<other>[0-9]{1,2}) ?\k<mark> ?(?<year>[0-9]{4})\.?$/,
  /^(?<one>[0-9]{1,2}) ?[-/.] ?(?<year>[0-9]{4})\.?$/,
  /^(?<year>[0-9]{1,4}) ?[年년] ?(?<one>[0-9]{1,2}) ?[月월](?: ?(?<other>[0-9]{1,2}) ?[日일])?$/,
];

function readNumericDate(text: string): number | undefined {
  const [, compact, month, day] = COMPACT_DATE.exec(text) ?? [];
  if (compact !== undefined) return isMonthAndDay(month, day) ? Number(compact) : undefined;
  for (const pattern of NUMERIC_DATES) {
    const { year, one, other } = pattern.exec(text)?.groups ?? {};
    if (year === undefined) continue;
    if (!isMonthAndDay(one, other) && !isMonthAndDay(other, one)) return undefined;
    return text.startsWith('-') ? -Number(year) + 0 : Number(year);
  }
  return undefined;
}

/** Zeros stand for an unknown month or day. */
function isMonthAndDay(month: string | undefined, day = '0'): boolean {
  return month !== undefined && Number(month) <= 12 && Number(day) <= 31;
}

/** Folded words before or after a year that change nothing. */
const WITHOUT_EFFECT =
  wordSet(`cop copr copyright dl depositolegal depotlegal deplegal impr imp impreso impression imprime printed printing print gedruckt druck
  stampa stampato druk pub publ published publie publicado pubblicato erschienen ersch anno ano annee an year jahr imjahr imjahre rok r
  copyr firstpublished publishedin firstpublishedin theyear repr reprint reprinted г год года р ad ce annodomini nchr nachchr nachchristus uz dc
  ddc apjc aprjc apresjc ne нэ 年 年版 年刊 年初版 년 公元 西暦 西元 서기`);

/** Folded words that make a year one before the common era, in the languages of the console and others. */
const BEFORE_COMMON_ERA =
  wordSet(`bc bce vchr vorchr vorchristus vuz vorunsererzeit ac adc adec aec avjc avantjc avantjesuschrist avantnotreere pne prnl prkr fkr eaa
  kre донэ гдонэ πχ mo 公元前 前 紀元前 西元前 기원전`);

/** A year with words around it: `c1999`, `cop. 1990`, `1999, c1998` (the year of publication, then of copyright), `44 BC`. */
function readMarkedYear(text: string): number | undefined {
  const [, before = '', digits, after = ''] =
    /^([^0-9-]*)(-?[0-9]{1,4})([^0-9]*)$/.exec(withoutCopyrightYear(text)) ?? [];
  if (digits === undefined) return undefined;
  const isCopyright = /^\(?[cp]\)$|^[cp]$/i.test(before.trim()) && !/^[cp] $/i.test(before);
  const words = [isCopyright ? '' : foldWords(before), foldWords(after)].filter((word) => word !== '');
  const eras = words.filter((word) => BEFORE_COMMON_ERA.has(word));
  const isKnown = words.every((word) => WITHOUT_EFFECT.has(word) || BEFORE_COMMON_ERA.has(word));
  if (!isKnown || eras.length > 1 || !isMark(before) || !isMark(after.replace(/\.$/, ''))) return undefined;
  // Adding 0 makes -0 0.
  return (eras.length === 1 ? -Math.abs(Number(digits)) : Number(digits)) + 0;
}

/** Whether a text beside a year has nothing but words and their punctuation. */
function isMark(text: string): boolean {
  return /^ ?$|^[\p{L}\s.,'’()©℗-]*[\p{L}©℗][\p{L}\s.,'’()©℗-]*$/u.test(text);
}

function withoutCopyrightYear(text: string): string {
  return text.replace(/^([0-9]{4}),? \(?(?:[cp©℗]|cop(?:yright|r)?\.?) ?©?[0-9]{4}\)?\.?$/i, '$1');
}

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/).map(foldWords));
}

/** The letters of a text without their case and accents. */
function foldWords(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}]/gu, '');
}

/** `March 5, 2019`, `5 Mar 2019`, `1er mars 2019`, `5 de mayo de 2019`, `Jan.-Feb. 1999`, `Spring 1999`. */
function readDateInWords(text: string): number | undefined {
  const tokens = text
    .toLowerCase()
    .split(/[\s,./-]+/)
    .filter((token) => token !== '');
  const years = tokens.filter((token) => /^[0-9]{4}$/.test(token));
  const days = tokens.filter((token) => /^[0-9]{1,2}(?:st|nd|rd|th|er|re|[oae])?$/.test(token));
  const words = tokens.filter((token) => !/^[0-9]/.test(token)).map(foldWords);
  const partsOfYear = words.filter((word) => PARTS_OF_YEAR.has(word));
  const isDate =
    years.length === 1 &&
    years.length + days.length + words.length === tokens.length &&
    days.every((day) => Number.parseInt(day, 10) <= 31) &&
    days.length <= 2 &&
    partsOfYear.length > 0 &&
    partsOfYear.length <= 2 &&
    words.every((word) => PARTS_OF_YEAR.has(word) || LINKS.has(word));
  return isDate ? Number(years[0]) : undefined;
}

/** Folded words between the parts of a date, and the days of the week in the dates of e-mail and HTTP. */
const LINKS = wordSet(`de del do of the di den d г года r p
  mon monday tue tuesday wed wednesday thu thursday fri friday sat saturday sun sunday`);

/** Folded names of months, long and short, and of seasons. */
const PARTS_OF_YEAR =
  wordSet(`jan january januar janvier janv enero ene gennaio gen janeiro januari stycznia styczen январь января
  feb february februar fevrier fev fevr febrero febbraio fevereiro februari lutego luty февраль февраля
  mar march marz mars marzo marco maart mrt marca marzec март марта
  apr april avril avr abril abr aprile kwietnia kwiecien апрель апреля
  may mai mayo maggio mag maio mei maj maja май мая
  jun june juni juin junio giugno giu junho czerwca czerwiec июнь июня
  jul july juli juillet juil julio luglio lug julho lipca lipiec июль июля
  aug august aout agosto ago augustus augusti sierpnia sierpien август августа
  sep sept september septembre septiembre setiembre settembre set setembro wrzesnia wrzesien сентябрь сентября
  oct october okt oktober octobre octubre ottobre ott outubro out pazdziernika pazdziernik октябрь октября
  nov november novembre noviembre novembro listopada listopad ноябрь ноября
  janner feber desember ocak şubat nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
  leden ledna unor unora brezen brezna duben dubna kveten kvetna cerven cervna cervenec cervence srpen srpna zari rijen rijna
  listopadu prosinec prosince
  dec december dez dezember decembre diciembre dic dicembre dezembro grudnia grudzien декабрь декабря
  spring summer autumn fall winter fruhling fruhjahr sommer herbst printemps ete automne hiver primavera verano otono invierno
  estate autunno inverno verao outono inverno lente voorjaar zomer herfst najaar`);
