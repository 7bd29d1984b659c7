import { once } from 'node:events';
import { connect } from 'node:net';
import type { Place } from '../../test/http/connection.ts';
import type { Attack } from './attacks.ts';

/** What an attacker got. */
export interface Fate {
  /** The status that it was answered; 0 when it was none. */
  readonly status: number;
  /** How long it was borne. */
  readonly seconds: number;
}

/** How often more is sent. */
const DROP_MS = 1_000;

/** One attacker, until it is cut off. @throws Error when it is borne for longer than it may */
export async function attack(
  place: Place,
  { start, drop, reads }: Attack,
  secondsMax: number,
): Promise<Fate> {
  const socket = connect({ host: '127.0.0.1', port: place.port });
  socket.on('error', () => {});
  await once(socket, 'connect');
  const started = performance.now();
  const limit = setTimeout(() => socket.destroy(new Error('borne for too long')), secondsMax * 1_000);
  // A connection that is not read shows that it was cut off when it is written to.
  const dripping = setInterval(() => socket.write(drop ?? '', 'latin1'), DROP_MS);
  let status = 0;
  socket.on('data', (bytes: Buffer) => {
    status ||= Number(/^HTTP\/1\.1 ([0-9]{3})/.exec(bytes.toString('latin1'))?.[1] ?? 0);
    if (reads) return;
    socket.pause();
    // A refusal is short: nothing waits for who does not read it.
    if (status === 503) socket.destroy();
  });
  socket.write(start, 'latin1');
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(dripping);
  clearTimeout(limit);
  const seconds = (performance.now() - started) / 1_000;
  if (seconds >= secondsMax) throw new Error(`a client is borne for more than ${secondsMax} s`);
  return { status, seconds };
}
