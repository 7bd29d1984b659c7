import { parseStoreAddress } from '../store/address.ts';
import {
  parseConnections,
  parseLogLevel,
  parseOrigins,
  parsePort,
  parseRequired,
  parseSeconds,
  parseString,
  parseSwitch,
  parseTrustProxy,
  parseWorkers,
} from './parsers.ts';

/** One variable of the configuration. */
export interface Variable<Value> {
  /** The text that stands for an unset or empty variable. */
  readonly fallback: string;
  /** What the documentation gives as the default where `fallback` is empty. */
  readonly fallbackInWords?: string;
  /** @throws Error with what the text must be, and without the text */
  readonly parse: (text: string) => Value;
  /** What the documentation says about the variable, in Markdown. */
  readonly meaning: string;
}

/** Every variable of the configuration, in the order of the table in README.md, which a test compares with this one. */
export const VARIABLES = {
  PORT: { fallback: '8080', parse: parsePort, meaning: 'TCP port' },
  HOST: {
    fallback: '',
    fallbackInWords: 'all interfaces',
    parse: parseString,
    meaning: 'address to listen on',
  },
  DB_URL: {
    fallback: 'sqlite:data/books.db',
    parse: parseStoreAddress,
    meaning: 'connection string of the store, see below',
  },
  WORKERS: {
    fallback: '1',
    parse: parseWorkers,
    meaning: 'number of processes that serve on PostgreSQL, 1 to 64; SQLite is served by one process',
  },
  SECRET_TOKEN: {
    fallback: '',
    fallbackInWords: 'generated',
    parse: parseRequired,
    meaning: 'key that signs tokens; use 32 bytes or more',
  },
  SECRET_TOKEN_PREVIOUS: {
    fallback: '',
    fallbackInWords: 'none',
    parse: parseString,
    meaning:
      'key whose tokens are still accepted, but which signs none: to [change the secret](docs/operating.md#changing-the-secret)',
  },
  AUTH_USERNAME: {
    fallback: 'admin',
    parse: parseString,
    meaning: 'username of the single credential pair',
  },
  AUTH_PASSWORD: {
    fallback: '',
    fallbackInWords: 'generated',
    parse: parseRequired,
    meaning: 'password of the single credential pair',
  },
  CORS_ORIGINS: {
    fallback: '',
    fallbackInWords: 'none',
    parse: parseOrigins,
    meaning: 'comma-separated origins whose pages may call the API from a browser',
  },
  TRUST_PROXY: {
    fallback: 'false',
    parse: parseTrustProxy,
    meaning:
      "proxies whose `X-Forwarded-For` gives the client's address: `true` (all), a number of proxies, or their addresses",
  },
  HEADERS_TIMEOUT_SECONDS: {
    fallback: '10',
    parse: parseSeconds,
    meaning: 'time limit for receiving the headers of a request',
  },
  REQUEST_TIMEOUT_SECONDS: {
    fallback: '30',
    parse: parseSeconds,
    meaning: 'time limit for receiving a whole request',
  },
  STALL_TIMEOUT_SECONDS: {
    fallback: '30',
    parse: parseSeconds,
    meaning: 'time limit for a client to read the next part of a response: a book, or 128 KiB of a list',
  },
  CONNECTIONS_MAX: {
    fallback: '10000',
    parse: parseConnections,
    meaning: 'maximum number of connections; further ones are rejected with 503',
  },
  METRICS: {
    fallback: 'on',
    parse: parseSwitch,
    meaning: '`off` disables metrics and `/metrics`',
  },
  STOP_DELAY_SECONDS: {
    fallback: '0',
    parse: (text: string) => parseSeconds(text, 0),
    meaning:
      'seconds to keep serving after SIGTERM while `/readyz` returns 503; use 1 behind a load balancer that checks `/readyz` every 300 ms',
  },
  LOG_LEVEL: {
    fallback: 'info',
    parse: parseLogLevel,
    meaning: 'minimum log level: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`',
  },
  NODE_ENV: {
    fallback: '',
    fallbackInWords: 'none',
    parse: parseString,
    meaning: 'with `production` nothing is generated: a missing secret or password ends the start',
  },
} as const satisfies Readonly<Record<string, Variable<unknown>>>;

type Name = keyof typeof VARIABLES;

/** The parsed value of every variable. */
export type Values = { readonly [N in Name]: ReturnType<(typeof VARIABLES)[N]['parse']> };

/**
 * Parses all variables. Unknown ones are ignored.
 *
 * @returns the values, or the faults, each with the name of its variable and without its text
 */
export function parseVariables(
  texts: Readonly<Record<string, string | undefined>>,
): { readonly values: Values } | { readonly faults: readonly string[] } {
  const faults: string[] = [];
  const entries = Object.entries<Variable<unknown>>(VARIABLES).map(([name, { fallback, parse }]) => {
    try {
      return [name, parse(texts[name] || fallback)];
    } catch (error) {
      faults.push(`${name}: ${(error as Error).message}`);
      return [name, undefined];
    }
  });
  return faults.length > 0 ? { faults } : { values: Object.fromEntries(entries) as Values };
}
