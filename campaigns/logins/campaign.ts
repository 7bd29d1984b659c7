import assert from 'node:assert/strict';
import { assertError, assertSuccess } from '../../testkit/assertions.ts';
import type { RawResponse } from '../../testkit/connection.ts';
import { LOGIN, startService, WRONG_LOGIN } from '../../testkit/service.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { Client } from './client.ts';

export const campaign: Campaign = {
  summary:
    'wrong passwords from a few addresses, directly and through a proxy, and valid logins; a round is a valid login',
  rounds: [1_000_000],
  engines: ['SQLite'],
  run: (options) => logIn(options, 10_000),
};

/** From how many addresses wrong passwords are sent. */
const GUESSERS = 4;

/** The limit of failed logins from an address within a minute. */
const FAILURES_MAX = 100;

/** Fewer failed logins, after which a valid one succeeds. */
const FEW_FAILURES = 20;

/** How many clients log in concurrently. */
const CLIENTS = 8;

/** The address of the trusted proxy. All addresses of 127.0.0.0/8 are this machine's. */
const PROXY = '127.0.0.200';

/** @param guesses how many wrong passwords are sent directly and through the proxy each */
export async function logIn({ rounds, report }: CampaignOptions, guesses: number): Promise<Figures> {
  // The time is fixed, so that no window ends, however slow the machine is.
  const now = Date.now();
  await using service = await startService({ trustProxy: [PROXY], now: () => now });
  const directly = (host: number) => Client.open(service, `127.0.0.${host}`);
  const throughProxy = (host: number) => Client.open(service, PROXY, [`X-Forwarded-For: 203.0.113.${host}`]);
  const forging = (host: number) =>
    Client.open(service, '127.0.0.99', [`X-Forwarded-For: 203.0.113.${host}`]);
  const forgingBehindProxy = (host: number) =>
    Client.open(service, PROXY, [`X-Forwarded-For: 203.0.113.${host}, 203.0.113.99`]);

  const rejected = {
    directly: await guess(directly, guesses),
    throughProxy: await guess(throughProxy, guesses),
  };
  // A client that is no proxy counts by its own address, whatever X-Forwarded-For it sends.
  await assertThrottled(await Promise.all([1, 2, 3, 4].map(forging)), guesses);
  // Behind the proxy, the entry that the proxy has added counts.
  await assertThrottled(await Promise.all([1, 2, 3, 4].map(forgingBehindProxy)), guesses);
  report('sent all wrong passwords');
  await assertSuccessesNotCounted(directly, rounds, report);
  return {
    'wrong passwords, directly and through a proxy each': guesses,
    '429 responses, directly': rejected.directly,
    '429 responses, through a proxy': rejected.throughProxy,
    'valid logins, none counted as failed': rounds,
  };
}

/** Asserts that addresses with many wrong passwords are throttled, and no others. @returns the number of 429 responses */
async function guess(open: (host: number) => Promise<Client>, guesses: number): Promise<number> {
  let rejected = 0;
  for (let host = 1; host <= GUESSERS; host++) {
    rejected += await assertThrottled([await open(host)], guesses / GUESSERS);
    using neighbour = await open(host + GUESSERS);
    assertSuccess(await neighbour.logIn(), 200, 'Token generated successfully');
  }
  using forgetful = await open(2 * GUESSERS + 1);
  for await (const response of forgetful.send(WRONG_LOGIN, FEW_FAILURES))
    assertError(response, 401, 'Invalid credentials');
  assertSuccess(await forgetful.logIn(), 200, 'Token generated successfully');
  return rejected;
}

/** Asserts that clients that count as one address are throttled, also valid logins. @returns the number of 429 responses */
async function assertThrottled(clients: readonly Client[], count: number): Promise<number> {
  let guesses = 0;
  for (const client of clients) {
    using _ = client;
    for await (const response of client.send(WRONG_LOGIN, count / clients.length)) {
      if (++guesses <= FAILURES_MAX) assertError(response, 401, 'Invalid credentials');
      else assertTooMany(response);
    }
    assertTooMany(await client.logIn());
  }
  return guesses - FAILURES_MAX;
}

function assertTooMany(response: RawResponse): void {
  assertError(response, 429, 'Too many requests');
  assert.match(response.headers.get('retry-after') ?? '', /^(?:[1-9]|[1-5][0-9]|60)$/);
}

/** Asserts that valid logins from an address do not count towards its limit. */
async function assertSuccessesNotCounted(
  open: (host: number) => Promise<Client>,
  count: number,
  report: (line: string) => void,
): Promise<void> {
  let done = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      using client = await open(50);
      for await (const response of client.send(LOGIN, count / CLIENTS)) {
        assertSuccess(response, 200, 'Token generated successfully');
        if (++done % 100_000 === 0) report(`${done} valid logins`);
      }
    }),
  );
  using client = await open(50);
  for await (const response of client.send(WRONG_LOGIN, FAILURES_MAX))
    assertError(response, 401, 'Invalid credentials');
  assertTooMany(await client.logIn());
}
