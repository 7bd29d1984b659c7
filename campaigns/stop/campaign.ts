import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeToken } from '../../conformance/tokens.ts';
import { assertNothingConfidentialInLog } from '../../testkit/log.ts';
import { SECRET } from '../../testkit/service.ts';
import { createBook, createLongBooks } from '../../testkit/service-process.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { Loops } from '../loops.ts';
import { Random } from '../random.ts';
import { launchService } from '../service.ts';
import { type Pattern, sendUntilStopped, type Tally } from './clients.ts';
import { ObstructiveClients } from './obstructive-clients.ts';

export const campaign: Campaign = {
  summary:
    'SIGTERM under load: every request that has arrived gets a response, and the process exits in time',
  rounds: [50, 20],
  engines: ['SQLite', 'PostgreSQL'],
  run: (options) => stopRepeatedly(options, 5_000),
};

/** The number of clients with each pattern. */
const PATTERNS: readonly (Pattern & { readonly clients: number })[] = [
  { clients: 24, pipelined: 1, pauseMsMax: 0, keepsConnection: true },
  { clients: 24, pipelined: 1, pauseMsMax: 300, keepsConnection: true },
  { clients: 8, pipelined: 6, pauseMsMax: 10, keepsConnection: true },
  { clients: 4, pipelined: 1, pauseMsMax: 0, keepsConnection: false },
];

/** Options of `node` with which the service writes the number of accepted connections to a file when it exits. */
const COUNTING_CONNECTIONS = [
  '--import',
  `data:text/javascript,${encodeURIComponent(`
    import { subscribe } from 'node:diagnostics_channel';
    import { writeFileSync } from 'node:fs';
    let accepted = 0;
    subscribe('net.server.socket', () => accepted++);
    process.on('exit', () => writeFileSync('accepted', String(accepted)));
  `)}`,
];

/** The requests that create books before the others, each over a connection of its own. */
const CREATIONS = 13;
/** The length of the list: longer than the send buffer of a connection. */
const LIST_MEBIBYTES = CREATIONS - 1;

/**
 * Stops a service in every round, every third time with obstructive clients.
 *
 * @param exitMsMax the time limit from the signal to the exit
 */
export async function stopRepeatedly(
  { engine, rounds, seed, report }: CampaignOptions,
  exitMsMax: number,
): Promise<Figures> {
  const tally: Tally = { answered: 0, dropped: 0, served: 0, unused: 0, unaccepted: 0 };
  let slowestMs = 0;
  for (let round = 0; round < rounds; round++) {
    const isObstructed = round % 3 === 0;
    const ms = await stopOnce(engine, isObstructed, tally, new Random(seed * 1_000 + round));
    report(`exited ${Math.round(ms)} ms after the signal${isObstructed ? ', with obstructive clients' : ''}`);
    assert.equal(tally.dropped, 0, 'requests that had arrived got no response');
    assert.ok(ms <= exitMsMax, `the process took ${ms} ms to exit`);
    slowestMs = Math.max(slowestMs, Math.round(ms));
  }
  return { stops: rounds, ...tally, 'slowest exit, ms': slowestMs };
}

/** @returns milliseconds from the signal to the exit */
async function stopOnce(
  engine: CampaignOptions['engine'],
  isObstructed: boolean,
  tally: Tally,
  random: Random,
): Promise<number> {
  await using launched = await launchService(engine, {}, COUNTING_CONNECTIONS);
  const service = await launched.service.listening();
  const token = makeToken(SECRET);
  await createBook(service, token, 'short');
  await createLongBooks(service, token, LIST_MEBIBYTES);

  const target = { port: service.port, secret: SECRET };
  using obstructive = isObstructed ? await ObstructiveClients.connect(target) : undefined;
  const before = { ...tally };
  const clients = new Loops(
    PATTERNS.flatMap((pattern) =>
      Array.from({ length: pattern.clients }, () => () => sendUntilStopped(target, pattern, tally, random)),
    ),
  );
  await clients.until(() => tally.answered >= before.answered + 500);

  const signalled = performance.now();
  const { code, complaints, output } = await service.stop();
  const elapsedMs = performance.now() - signalled;
  await clients.stop();
  assert.deepEqual([code, complaints], [0, '']);
  const accepted =
    Number(await readFile(join(launched.folder, 'accepted'), 'utf8')) - CREATIONS - (obstructive?.count ?? 0);
  assertAllServed(accepted, tally.served - before.served, tally.unused - before.unused);
  assertNothingConfidentialInLog(output.trim().split('\n'), ['x'.repeat(100)]);
  return elapsedMs;
}

/** Asserts that every accepted connection got a response, unless it was not used. */
function assertAllServed(accepted: number, served: number, unused: number): void {
  assert.ok(
    served <= accepted && accepted <= served + unused,
    `of ${accepted} accepted connections ${served} were served, and ${unused} were not used`,
  );
}
