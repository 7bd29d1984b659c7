import { type Book, INTEGER_NAMES, TEXT_NAMES } from './contract.ts';

/** What a part of a tagged text is: a number, or the length of a text in bytes, both with a space behind it; or the text. */
type PartKind = 'number' | 'length' | 'text';

/**
 * The parts of the text of which an entity tag is a digest, for example `1 -750 9 The IliadHomer`. Each text but the last has its length
 * before, or two books would have one tag: “The Iliad” by “Homer”, and “The” by “ IliadHomer”.
 */
export const TAGGED_PARTS: readonly (readonly [kind: PartKind, name: keyof Book])[] = [
  ['number', 'id'],
  ...INTEGER_NAMES.map((name) => ['number', name] as const),
  ...TEXT_NAMES.slice(0, -1).map((name) => ['length', name] as const),
  ...TEXT_NAMES.map((name) => ['text', name] as const),
];

/** The text of which the entity tag of a book is a digest. @param byteLength the length of a text in UTF-8 */
export function taggedText(book: Book, byteLength: (text: string) => number): string {
  let tagged = '';
  for (const [kind, name] of TAGGED_PARTS) {
    const value = String(book[name]);
    if (kind === 'text') tagged += value;
    else tagged += `${kind === 'length' ? byteLength(value) : value} `;
  }
  return tagged;
}
