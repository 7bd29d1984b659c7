import { envelopeAround, type OutcomeName } from '../http/outcomes.ts';
import type { Change } from './book-history.ts';
import { writeChangeCursor } from './change-cursor.ts';

/** Changes as a response in the envelope. */
export function jsonOf(outcome: OutcomeName, changes: readonly Change[]): Buffer {
  const [prefix, suffix] = envelopeAround(outcome);
  return Buffer.concat([prefix, Buffer.from(`[${changes.map(textOf).join(',')}]`), suffix]);
}

/** Changes as server-sent events (HTML standard, section 9.2). */
export function eventsOf(changes: readonly Change[]): Buffer {
  const events = changes.map(
    (change) => `id: ${writeChangeCursor(change.cursor)}\nevent: ${change.type}\ndata: ${textOf(change)}\n\n`,
  );
  return Buffer.from(events.join(''));
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

/** Identifies the content of changes that follow each other in the log. */
export function keyOf(changes: readonly Change[]): string {
  const [first, last] = [changes[0], changes.at(-1)];
  return first && last ? `${writeChangeCursor(first.cursor)} ${writeChangeCursor(last.cursor)}` : '';
}
