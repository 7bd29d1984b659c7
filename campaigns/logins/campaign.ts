import assert from 'node:assert/strict';
import { assertRefusal, assertSuccess } from '../../test/http/answers.ts';
import type { Answer } from '../../test/http/connection.ts';
import { LOGIN, startService, WRONG_LOGIN } from '../../test/http/service.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { Client } from './client.ts';

export const campaign: Campaign = {
  summary:
    'wrong passwords from a few addresses, directly and through a proxy, and valid logins; a round is a valid login',
  rounds: [1_000_000],
  engines: ['SQLite'],
  run,
};

/** How many wrong passwords are tried each way, and from how many addresses. */
const GUESSES = 10_000;
const GUESSERS = 4;

/** What an address may get wrong within a minute. */
const FAILURES_MAX = 100;

/** What a person may get wrong in a row, and still get in. */
const MISTAKES = 20;

/** How many clients log in at the same time. */
const CLIENTS = 8;

/** Where the trusted proxy is. All addresses of 127.0.0.0/8 are this machine's. */
const PROXY = '127.0.0.200';

async function run({ rounds, report }: CampaignOptions): Promise<Figures> {
  // The clock stands still, so that no window ends, however slow the machine is.
  const now = Date.now();
  await using service = await startService({ trustProxy: [PROXY], now: () => now });
  const directly = (host: number) => Client.open(service, `127.0.0.${host}`);
  const throughProxy = (host: number) => Client.open(service, PROXY, [`X-Forwarded-For: 203.0.113.${host}`]);
  const forging = (host: number) =>
    Client.open(service, '127.0.0.99', [`X-Forwarded-For: 203.0.113.${host}`]);
  const forgingBehindProxy = (host: number) =>
    Client.open(service, PROXY, [`X-Forwarded-For: 203.0.113.${host}, 203.0.113.99`]);

  const refused = { directly: await guess(directly), throughProxy: await guess(throughProxy) };
  // Who is no proxy, and says to be one for others, is one address.
  await assertGuessesEnd(await Promise.all([1, 2, 3, 4].map(forging)), GUESSES);
  // So is who says something in front of what the proxy adds.
  await assertGuessesEnd(await Promise.all([1, 2, 3, 4].map(forgingBehindProxy)), GUESSES);
  report('guessed');
  await assertNeverCounted(directly, rounds, report);
  return {
    'wrong passwords, directly and through a proxy each': GUESSES,
    '429 responses, directly': refused.directly,
    '429 responses, through a proxy': refused.throughProxy,
    'valid logins, none counted as failed': rounds,
  };
}

/** Asserts that addresses from which passwords are guessed are stopped, and no others. @returns how often */
async function guess(open: (host: number) => Promise<Client>): Promise<number> {
  let refused = 0;
  for (let host = 1; host <= GUESSERS; host++) {
    refused += await assertGuessesEnd([await open(host)], GUESSES / GUESSERS);
    using neighbour = await open(host + GUESSERS);
    assertSuccess(await neighbour.logIn(), 200, 'Token generated successfully');
  }
  using person = await open(2 * GUESSERS + 1);
  for await (const answer of person.send(WRONG_LOGIN, MISTAKES))
    assertRefusal(answer, 401, 'Invalid credentials');
  assertSuccess(await person.logIn(), 200, 'Token generated successfully');
  return refused;
}

/** Asserts that clients that count as one get nowhere, not even with the right pair. @returns how often they were stopped */
async function assertGuessesEnd(clients: readonly Client[], count: number): Promise<number> {
  let guesses = 0;
  for (const client of clients) {
    using _ = client;
    for await (const answer of client.send(WRONG_LOGIN, count / clients.length)) {
      if (++guesses <= FAILURES_MAX) assertRefusal(answer, 401, 'Invalid credentials');
      else assertTooMany(answer);
    }
    assertTooMany(await client.logIn());
  }
  return guesses - FAILURES_MAX;
}

function assertTooMany(answer: Answer): void {
  assertRefusal(answer, 429, 'Too many requests');
  assert.match(answer.headers.get('retry-after') ?? '', /^(?:[1-9]|[1-5][0-9]|60)$/);
}

/** Asserts that right logins from one address leave it all the mistakes that it may make. */
async function assertNeverCounted(
  open: (host: number) => Promise<Client>,
  count: number,
  report: (line: string) => void,
): Promise<void> {
  let done = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      using client = await open(50);
      for await (const answer of client.send(LOGIN, count / CLIENTS)) {
        assertSuccess(answer, 200, 'Token generated successfully');
        if (++done % 100_000 === 0) report(`${done} right logins`);
      }
    }),
  );
  using client = await open(50);
  for await (const answer of client.send(WRONG_LOGIN, FAILURES_MAX))
    assertRefusal(answer, 401, 'Invalid credentials');
  assertTooMany(await client.logIn());
}
