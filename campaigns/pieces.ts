import { setImmediate as turn } from 'node:timers/promises';
import type { Connection } from '../testkit/connection.ts';
import type { Random } from './random.ts';

/** The longest message that is sent byte by byte. */
const SINGLE_BYTES_MAX = 3_000;

/** Splits bytes as a network may: not at all, into a few pieces, or into pieces of one byte. */
export function splitRandomly(bytes: Buffer, random: Random): Buffer[] {
  const shortest = bytes.length <= SINGLE_BYTES_MAX ? 1 : Math.ceil(bytes.length / 100);
  const length = random.pick([bytes.length, shortest + random.below(200), shortest]) || 1;
  return Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) =>
    bytes.subarray(index * length, (index + 1) * length),
  );
}

/** Whether these are pieces of one byte. */
export function areSingleBytes(pieces: readonly Buffer[]): boolean {
  return pieces.length > 1 && pieces.every(({ length }) => length === 1);
}

/** Sends pieces one by one, with an iteration of the event loop between them, so that the service reads them separately. */
export async function sendInPieces(connection: Connection, pieces: readonly Buffer[]): Promise<void> {
  for (const piece of pieces) {
    await connection.send(piece);
    await turn();
  }
}
