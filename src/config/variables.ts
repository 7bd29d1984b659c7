import { isIP } from 'node:net';
import { LOG_LEVELS, type LogLevel } from '../log/log-level.ts';
import { parseStoreAddress } from '../store/address.ts';

export interface Variable<Value> {
  /** The text for an unset or empty variable; by default it is empty. */
  readonly fallback?: string;
  /** The default in the documentation, where `fallback` is empty. */
  readonly documentedDefault?: string;
  /** @throws Error that describes valid texts and does not contain the text */
  readonly parse: (text: string) => Value;
  /** The description in the documentation, in Markdown. */
  readonly meaning: string;
}

/** All variables, in the order of the table in docs/configuration.md. */
export const VARIABLES = {
  PORT: { fallback: '8080', parse: wholeNumber(0, 65_535), meaning: 'TCP port' },
  HOST: { documentedDefault: 'all interfaces', parse: String, meaning: 'address to listen on' },
  DB_URL: {
    fallback: 'sqlite:data/books.db',
    parse: parseStoreAddress,
    meaning: 'connection string of the store',
  },
  SECRET_TOKEN: {
    documentedDefault: 'generated',
    parse: parseRequired,
    meaning: 'key that signs tokens; use 32 bytes or more',
  },
  SECRET_TOKEN_PREVIOUS: {
    documentedDefault: 'none',
    parse: String,
    meaning:
      'key whose tokens are still accepted, but which signs none: to [change the secret](operating.md#changing-the-secret)',
  },
  AUTH_USERNAME: { fallback: 'admin', parse: String, meaning: 'username of the single credential pair' },
  AUTH_PASSWORD: {
    documentedDefault: 'generated',
    parse: parseRequired,
    meaning: 'password of the single credential pair',
  },
  CORS_ORIGINS: {
    documentedDefault: 'none',
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
    parse: seconds(1),
    meaning: 'time limit for receiving the headers of a request',
  },
  REQUEST_TIMEOUT_SECONDS: {
    fallback: '30',
    parse: seconds(1),
    meaning: 'time limit for receiving a whole request',
  },
  STALL_TIMEOUT_SECONDS: {
    fallback: '30',
    parse: seconds(1),
    meaning: 'time limit for a client to read the next part of a response: a book, or 128 KiB of a list',
  },
  CONNECTIONS_MAX: {
    fallback: '10000',
    parse: wholeNumber(1, 1_000_000),
    meaning: 'maximum number of connections; further ones are rejected with 503',
  },
  HISTORY: {
    documentedDefault: '`on` on SQLite, `off` on PostgreSQL',
    parse: (text) => (text === '' ? undefined : parseSwitch(text)),
    meaning:
      '`on` records every change for [`GET /changes`, the history of a book and its restore](history.md)',
  },
  HISTORY_DAYS: {
    fallback: '90',
    parse: wholeNumber(1, 36_500),
    meaning: 'number of days for which changes are kept',
  },
  METRICS: { fallback: 'on', parse: parseSwitch, meaning: '`off` disables metrics and `/metrics`' },
  STOP_DELAY_SECONDS: {
    fallback: '0',
    parse: seconds(0),
    meaning:
      'seconds to keep serving after SIGTERM while `/readyz` returns 503; use 1 behind a load balancer that checks `/readyz` every 300 ms',
  },
  LOG_LEVEL: {
    fallback: 'info',
    parse: parseLogLevel,
    meaning: 'minimum log level: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`',
  },
  NODE_ENV: {
    documentedDefault: 'none',
    parse: String,
    meaning: 'with `production` nothing is generated: a missing secret or password ends the start',
  },
} as const satisfies Readonly<Record<string, Variable<unknown>>>;

type Values = {
  readonly [Name in keyof typeof VARIABLES]: ReturnType<(typeof VARIABLES)[Name]['parse']>;
};

/** @returns the values, or all errors, each with the name of its variable and without its text */
export function parseVariables(
  texts: Readonly<Record<string, string | undefined>>,
): { readonly values: Values } | { readonly errors: readonly string[] } {
  const errors: string[] = [];
  const entries = Object.entries<Variable<unknown>>(VARIABLES).map(([name, { fallback = '', parse }]) => {
    try {
      return [name, parse(texts[name] || fallback)];
    } catch (error) {
      errors.push(`${name}: ${(error as Error).message}`);
      return [name, undefined];
    }
  });
  // An honest accident: the operator believes that several processes serve.
  if (texts.WORKERS && texts.WORKERS !== '1')
    errors.push('WORKERS: no longer exists, as a service is one process; run copies, see docs/scaling.md');
  return errors.length > 0 ? { errors } : { values: Object.fromEntries(entries) as Values };
}

function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^[0-9]+$/.test(text) && text.length <= `${max}`.length ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw new Error(`must be a whole number from ${min} to ${max}`);
    return value;
  };
}

/** @returns milliseconds */
function seconds(min: number): (text: string) => number {
  const parse = wholeNumber(min, 3_600);
  return (text) => parse(text) * 1_000;
}

function parseRequired(text: string): string {
  if (text === '') throw new Error('must be set');
  return text;
}

function parseLogLevel(text: string): LogLevel {
  const level = text.toLowerCase();
  if (!Object.hasOwn(LOG_LEVELS, level))
    throw new Error(`must be one of ${Object.keys(LOG_LEVELS).join(', ')}`);
  return level as LogLevel;
}

function parseSwitch(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new Error('must be on or off');
  return text === 'on';
}

function parseOrigins(text: string): string[] {
  const origins = splitList(text);
  if (!origins.every((origin) => URL.parse(origin)?.origin === origin))
    throw new Error('must be a list of origins such as https://books.example, with commas between them');
  return origins;
}

function parseTrustProxy(text: string): boolean | number | string[] {
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^[0-9]{1,3}$/.test(text)) return Number(text);
  const addresses = splitList(text);
  if (!addresses.every(isNetwork))
    throw new Error(
      'must be true, false, a number of proxies, or a list of addresses with commas between them',
    );
  return addresses;
}

function splitList(text: string): string[] {
  const items = text.split(',').map((item) => item.trim());
  return items.filter((item) => item !== '');
}

function isNetwork(text: string): boolean {
  const [, address = '', prefix = '1'] = /^([^/]*)(?:\/([1-9][0-9]{0,2}))?$/.exec(text) ?? [];
  return Number(prefix) <= (isIP(address) === 4 ? 32 : 128) && isIP(address) !== 0;
}
