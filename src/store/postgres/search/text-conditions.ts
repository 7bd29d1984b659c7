import type { Parameters } from '../../search/conditions.ts';
import type { Needles } from '../../search/folding.ts';

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
  if (needles?.title) conditions.push(contains('title_lower', needles.title));
  if (needles?.author) conditions.push(contains('author_lower', needles.author));
  return conditions.join(' and ') || 'true';
}
