import { type ClientOptions, createClientWith } from '../../client/client.ts';
import type { BookClient } from '../../client/index.ts';
import type { ScriptedServer } from './scripted-server.ts';

export const CREDENTIALS = { username: 'librarian', password: 'the password of the tests' } as const;

/** A client that does not wait. */
export interface HastyClient {
  readonly client: BookClient;
  /** The waits between attempts, in milliseconds. */
  readonly waits: readonly number[];
  /** Its clock, in milliseconds since 1970, which does not advance by itself. */
  clock: number;
}

/**
 * Creates a client with the credentials of the tests.
 *
 * @param random the random number; with 0.5, waits are half as long as the maximum
 */
export function hasty(
  { url }: Pick<ScriptedServer, 'url'>,
  options: Partial<ClientOptions> = {},
  random = 0.5,
): HastyClient {
  const waits: number[] = [];
  const dependencies = {
    now: () => made.clock,
    monotonicNow: () => 0,
    random: () => random,
    sleep: async (milliseconds: number) => {
      waits.push(milliseconds);
    },
  };
  const credentials = options.token === undefined ? CREDENTIALS : {};
  const client = createClientWith(dependencies, { url, ...credentials, ...options } as ClientOptions);
  const made = { client, waits, clock: Date.now() };
  return made;
}
