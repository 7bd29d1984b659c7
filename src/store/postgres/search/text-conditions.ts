import type { Parameters } from '../../search/conditions.ts';
import type { Needles } from '../../search/folding.ts';

/** The folded title and author: the server itself folds short texts of ASCII, which are in the sort keys. */
export const [TITLE_LOWER, AUTHOR_LOWER] = ['title', 'author'].map(
  (column) => `coalesce(${column}_lower, lower(split_part(${column}_key, E'\\x01', 2)))`,
) as [string, string];

/** @returns null for a text that {@link TITLE_LOWER} computes */
export function storedLower(text: string, key: string, lower: string): string | null {
  return SHORT_ASCII.test(text) && key.endsWith(`\u0001${text}`) ? null : lower;
}

const SHORT_ASCII = /^[ -~]{0,100}$/;

/** The part of a query that the server compares: the cost is the product of the lengths of query and text. */
const WORDS_MAX = 4;
const PART = /^.{1,64}/su;

function shorten(part: string): string {
  return PART.exec(part)?.[0] ?? '';
}

/** Whether the server compares only a part of a query, so that the service compares its result again. */
export function isShortened({ words, title, author }: Needles): boolean {
  const parts = [...words, title ?? '', author ?? ''];
  return words.length > WORDS_MAX || parts.some((part) => shorten(part) !== part);
}

export function textCondition(needles: Needles | undefined, parameters: Parameters): string {
  const contains = (column: string, part: string) =>
    `position(${parameters.add(shorten(part))} in ${column}) > 0`;
  const conditions: string[] = [];
  const words = (needles?.words ?? []).slice(0, WORDS_MAX).map(shorten);
  if (words.length === 1) conditions.push(contains('words', words[0] ?? ''));
  if (words.length > 1) {
    const every = `unnest(${parameters.add(words)}::text[]) as word`;
    conditions.push(`not exists (select 1 from ${every} where position(word in words) = 0)`);
  }
  if (needles?.title) conditions.push(contains(TITLE_LOWER, needles.title));
  if (needles?.author) conditions.push(contains(AUTHOR_LOWER, needles.author));
  return conditions.join(' and ') || 'true';
}
