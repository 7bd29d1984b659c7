import { once } from 'node:events';
import { connect } from 'node:net';
import type { Place } from '../../testkit/connection.ts';
import type { Attack } from './attacks.ts';

/** The result of an attacker. */
export interface AttackResult {
  /** The status of its response; 0 without one. */
  readonly status: number;
  /** The time until the service closed the connection. */
  readonly seconds: number;
}

/** The interval between its sends. */
const INTERVAL_MS = 1_000;

/** Runs one attacker until the service closes its connection. @throws Error when that takes too long */
export async function attack(
  place: Place,
  { start, repeated, reads }: Attack,
  secondsMax: number,
): Promise<AttackResult> {
  const socket = connect({ host: '127.0.0.1', port: place.port });
  socket.on('error', () => {});
  await once(socket, 'connect');
  const started = performance.now();
  const limit = setTimeout(() => socket.destroy(new Error('not closed in time')), secondsMax * 1_000);
  // The end of a connection that is not read is noticed by a write.
  const sending = setInterval(() => socket.write(repeated ?? '', 'latin1'), INTERVAL_MS);
  let status = 0;
  socket.on('data', (bytes: Buffer) => {
    status ||= Number(/^HTTP\/1\.1 ([0-9]{3})/.exec(bytes.toString('latin1'))?.[1] ?? 0);
    if (reads) return;
    socket.pause();
    // A 503 is short: the service need not wait for its reader.
    if (status === 503) socket.destroy();
  });
  socket.write(start, 'latin1');
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(sending);
  clearTimeout(limit);
  const seconds = (performance.now() - started) / 1_000;
  if (seconds >= secondsMax) throw new Error(`the connection is open after ${secondsMax} s`);
  return { status, seconds };
}
