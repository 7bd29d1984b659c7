import { envelopeAround, type OutcomeName } from '../http/outcomes.ts';
import type { Change } from './book-history.ts';
import { writeChangeCursor } from './change-cursor.ts';

/** Changes as a response in the envelope. */
export function jsonOf(outcome: OutcomeName, changes: readonly Change[]): Buffer {
  const [prefix, suffix] = envelopeAround(outcome);
  return Buffer.concat([prefix, Buffer.from(`[${changes.map(textOf).join(',')}]`), suffix]);
}

function textOf({ cursor, type, at, book, gapAfter }: Change): string {
  return JSON.stringify({
    cursor: writeChangeCursor(cursor),
    type,
    at: new Date(at).toISOString(),
    book,
    gapAfter,
  });
}
