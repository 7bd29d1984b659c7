import { isIP } from 'node:net';
import { ENV_FILE, generateMissing, readEnvFile, type Variables, withoutEmpty } from './env-file.ts';
import { Secret } from './secret.ts';
import { parseStoreAddress, type StoreAddress } from './store/address.ts';

/** How the service is to run. */
export interface Config {
  readonly port: number;
  /** The address to listen on; all interfaces when absent. */
  readonly host?: string;
  readonly store: StoreAddress;
  readonly corsOrigins: readonly string[];
  readonly trustProxy: boolean | number | readonly string[];
}

/** What nobody else may know. */
export interface Secrets {
  /** The key that signs and verifies tokens. */
  readonly token: Secret;
  readonly username: string;
  readonly password: Secret;
}

/** A key shorter than the hash is weaker than the algorithm (RFC 7518, section 3.2). */
const SECRET_BYTES_RECOMMENDED = 32;

/** A configuration that cannot be used. The message names every fault with its variable, and no value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** What a start needs to know, and what people should. */
export interface Configuration {
  readonly config: Config;
  readonly secrets: Secrets;
  /** Where the password was found. */
  readonly passwordIn: 'environment' | 'file';
  /** The names of the variables that were generated just now. */
  readonly generated: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Reads the configuration from the environment and, where that is silent, from `.env` in the working directory. What
 * must not be left unset is generated and written there, unless `NODE_ENV` is `production`.
 *
 * @throws ConfigError with all faults at once
 */
export function loadConfig(): Configuration {
  const environment = withoutEmpty(process.env);
  try {
    const known = { ...readEnvFile(), ...environment };
    const isProduction = known.NODE_ENV === 'production';
    // What cannot be used ends the start before anything is written.
    if (!isProduction) readConfig({ SECRET_TOKEN: 'to come', AUTH_PASSWORD: 'to come', ...known });
    const { variables, generated } = isProduction
      ? { variables: known, generated: [] }
      : generateMissing(environment);
    const passwordIn = environment.AUTH_PASSWORD === undefined ? 'file' : 'environment';
    return { ...readConfig(variables), generated, passwordIn };
  } catch (error) {
    if (error instanceof ConfigError || !(error instanceof Error && 'code' in error)) throw error;
    throw new ConfigError(
      `the file ${ENV_FILE} cannot be read or written (${String(error.code)}): set SECRET_TOKEN and AUTH_PASSWORD`,
    );
  }
}

/** Reads the configuration from variables. @throws ConfigError with all faults at once */
export function readConfig(variables: Variables): Omit<Configuration, 'generated' | 'passwordIn'> {
  const faults: string[] = [];
  function read<Value>(name: string, fallback: string, parse: (text: string) => Value): Value | undefined {
    try {
      return parse(variables[name] || fallback);
    } catch (error) {
      faults.push(`${name}: ${(error as Error).message}`);
      return undefined;
    }
  }

  const port = read('PORT', '8080', parsePort);
  const host = read('HOST', '', (text) => text);
  const store = read('DB_URL', 'sqlite:data/books.db', parseStoreAddress);
  const corsOrigins = read('CORS_ORIGINS', '', parseOrigins);
  const trustProxy = read('TRUST_PROXY', 'false', parseTrustProxy);
  const token = read('SECRET_TOKEN', '', required);
  const username = read('AUTH_USERNAME', 'admin', String);
  const password = read('AUTH_PASSWORD', '', required);
  if (
    port === undefined ||
    store === undefined ||
    corsOrigins === undefined ||
    trustProxy === undefined ||
    token === undefined ||
    username === undefined ||
    password === undefined
  ) {
    throw new ConfigError(faults.join('; '));
  }

  const isWeak = Buffer.byteLength(token) < SECRET_BYTES_RECOMMENDED;
  return {
    config: { port, ...(host && { host }), store, corsOrigins, trustProxy },
    secrets: { token: new Secret(token), username, password: new Secret(password) },
    warnings: isWeak ? [`SECRET_TOKEN is shorter than ${SECRET_BYTES_RECOMMENDED} bytes`] : [],
  };
}

function required(text: string): string {
  if (text === '') throw new Error('must be set');
  return text;
}

function parsePort(text: string): number {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new Error('must be a whole number from 0 to 65535');
  return port;
}

function parseOrigins(text: string): string[] {
  const origins = list(text);
  for (const origin of origins) {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw new Error('must be a list of origins such as https://books.example, with commas between them');
    }
  }
  return origins;
}

function parseTrustProxy(text: string): boolean | number | string[] {
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^[0-9]{1,3}$/.test(text)) return Number(text);
  const addresses = list(text);
  if (!addresses.every(isNetwork)) {
    throw new Error(
      'must be true, false, a number of proxies, or a list of addresses with commas between them',
    );
  }
  return addresses;
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function isNetwork(text: string): boolean {
  const [, address = '', prefix = '1'] = /^([^/]*)(?:\/([1-9][0-9]{0,2}))?$/.exec(text) ?? [];
  return Number(prefix) <= (isIP(address) === 4 ? 32 : 128) && isIP(address) !== 0;
}
