import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeToken } from '../../conformance/tokens.ts';
import { assertLogTellsNothing } from '../../test/http/log.ts';
import { PASSWORD, SECRET } from '../../test/http/service.ts';
import { createBook, startService } from '../../test/process/service-process.ts';
import { engines } from '../../test/support/engines.ts';
import { createFolder } from '../../test/support/folder.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { Random } from '../random.ts';
import { callUntilGone, type Habit, type Tally } from './clients.ts';
import { Nuisances } from './nuisances.ts';

export const campaign: Campaign = {
  summary:
    'SIGTERM under load: every request that has arrived gets a response, and the process exits in time',
  rounds: [50, 20],
  engines: ['SQLite', 'PostgreSQL'],
  run: (options) => stopOften(options, 5_000),
};

/** How many clients there are of each kind. */
const HABITS: readonly (Habit & { readonly clients: number })[] = [
  { clients: 24, pipelined: 1, pauseMsMax: 0, keepsConnection: true },
  { clients: 24, pipelined: 1, pauseMsMax: 300, keepsConnection: true },
  { clients: 8, pipelined: 6, pauseMsMax: 10, keepsConnection: true },
  { clients: 4, pipelined: 1, pauseMsMax: 0, keepsConnection: false },
];

/** What `node` gets so that a service that ends leaves a file that says how many connections it had accepted. */
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

/** How many books there are, each of which was created over a connection of its own: one is short. */
const BOOKS = 13;

/** Longer than what the service may have in its buffers for a client that does not read. */
const LONG_TITLE = 'x'.repeat(1_000_000);

/**
 * Stops a service in every round, every third time among clients that do what they can against it.
 *
 * @param endMsMax how long it may take from the signal to the end of the process
 */
export async function stopOften(
  { engine, rounds, seed, report }: CampaignOptions,
  endMsMax: number,
): Promise<Figures> {
  const tally: Tally = { answered: 0, dropped: 0, served: 0, unasked: 0, turnedAway: 0 };
  let slowestMs = 0;
  for (let round = 0; round < rounds; round++) {
    const isObstructed = round % 3 === 0;
    const ms = await stopOnce(engine, isObstructed, tally, new Random(seed * 1_000 + round));
    report(`exited ${Math.round(ms)} ms after the signal${isObstructed ? ', with obstructive clients' : ''}`);
    assert.equal(tally.dropped, 0, 'requests that had arrived got no response');
    assert.ok(ms <= endMsMax, `the process took ${ms} ms to exit`);
    slowestMs = Math.max(slowestMs, Math.round(ms));
  }
  return { stops: rounds, ...tally, 'slowest exit, ms': slowestMs };
}

/** @returns the milliseconds from the signal to the end of the process */
async function stopOnce(
  engine: CampaignOptions['engine'],
  isObstructed: boolean,
  tally: Tally,
  random: Random,
): Promise<number> {
  await using folder = await createFolder();
  await using address = await engines.find(({ name }) => name === engine)?.createAddress();
  const variables = { DB_URL: address?.dbUrl ?? '', SECRET_TOKEN: SECRET, AUTH_PASSWORD: PASSWORD };
  await using service = await startService(folder.path, variables, COUNTING_CONNECTIONS);
  const token = makeToken(SECRET, {});
  await createBook(service, token, 'short');
  for (let books = 1; books < BOOKS; books++) await createBook(service, token, LONG_TITLE);

  const target = { port: service.port, secret: SECRET };
  using nuisances = isObstructed ? await Nuisances.arrive(target) : undefined;
  const before = { ...tally };
  const clients = HABITS.flatMap((habit) =>
    Array.from({ length: habit.clients }, () => callUntilGone(target, habit, tally, random)),
  );
  const answered = tally.answered + 500;
  while (tally.answered < answered) await Promise.race([sleep(5), ...clients]);

  const signalled = performance.now();
  const { code, complaints, output } = await service.stop();
  const elapsedMs = performance.now() - signalled;
  await Promise.all(clients);
  assert.deepEqual([code, complaints], [0, '']);
  const accepted =
    Number(await readFile(join(folder.path, 'accepted'), 'utf8')) - BOOKS - (nuisances?.count ?? 0);
  assertAllServed(accepted, tally.served - before.served, tally.unasked - before.unasked);
  assertLogTellsNothing(output.trim().split('\n'), [LONG_TITLE.slice(0, 100)]);
  return elapsedMs;
}

/** Asserts that on every connection that the service had accepted there were answers, unless nothing was asked. */
function assertAllServed(accepted: number, served: number, unasked: number): void {
  assert.ok(
    served <= accepted && accepted <= served + unasked,
    `of ${accepted} connections that were accepted ${served} were served; on ${unasked} nothing was asked`,
  );
}
