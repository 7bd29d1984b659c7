import { setImmediate as turn } from 'node:timers/promises';
import type { Connection } from '../test/http/connection.ts';
import type { Chance } from './chance.ts';

/** Up to this length bytes are sent one by one. */
const SINGLE_BYTES_MAX = 3_000;

/** Cuts bytes as a network may: not at all, into a few pieces, or into pieces of one byte. */
export function cutAnywhere(bytes: Buffer, chance: Chance): Buffer[] {
  const shortest = bytes.length <= SINGLE_BYTES_MAX ? 1 : Math.ceil(bytes.length / 100);
  const length = chance.pick([bytes.length, shortest + chance.below(200), shortest]) || 1;
  return Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) =>
    bytes.subarray(index * length, (index + 1) * length),
  );
}

/** Whether bytes were cut into pieces of one byte. */
export function areSingleBytes(pieces: readonly Buffer[]): boolean {
  return pieces.length > 1 && pieces.every(({ length }) => length === 1);
}

/** Sends pieces one by one. A service in this process would read them in one, were there no turn between them. */
export async function sendInPieces(connection: Connection, pieces: readonly Buffer[]): Promise<void> {
  for (const piece of pieces) {
    await connection.send(piece);
    await turn();
  }
}
