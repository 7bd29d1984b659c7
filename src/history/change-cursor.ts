import type { ChangeCursor } from './book-history.ts';

/** For example `1042-2gosa7pa2gv`. */
export function writeChangeCursor({ position, nonce }: ChangeCursor): string {
  return `${position}-${nonce.toString(36)}`;
}

/** @returns undefined when the text is no cursor */
export function readChangeCursor(text: string): ChangeCursor | undefined {
  const [, digits = '', nonceDigits = ''] = /^(0|[1-9][0-9]{0,15})-([0-9a-z]{1,11})$/.exec(text) ?? [];
  const cursor = { position: Number(digits), nonce: Number.parseInt(nonceDigits, 36) };
  const isExact = Number.isSafeInteger(cursor.position) && Number.isSafeInteger(cursor.nonce);
  return isExact && writeChangeCursor(cursor) === text ? cursor : undefined;
}
