import { type ClientOptions, createClientWith } from '../../src/client/client.ts';
import type { BookClient } from '../../src/client/index.ts';
import type { ScriptedServer } from './scripted-server.ts';

export const CREDENTIALS = { username: 'librarian', password: 'the password of the tests' } as const;

/** A client whose time passes at once. */
export interface HastyClient {
  readonly client: BookClient;
  /** How long it waited between attempts, in milliseconds, one after the other. */
  readonly waits: readonly number[];
  /** Its clock, in milliseconds since 1970, which stands still. */
  clock: number;
}

/**
 * Makes a client that signs in with the credentials of the tests.
 *
 * @param random its chance: by default, waits are half as long as they may be
 */
export function hasty(
  { url }: Pick<ScriptedServer, 'url'>,
  options: Partial<ClientOptions> = {},
  random = 0.5,
): HastyClient {
  const waits: number[] = [];
  const dependencies = {
    now: () => made.clock,
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
