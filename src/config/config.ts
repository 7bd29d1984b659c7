import type { LogLevel } from '../log/log-level.ts';
import type { StoreAddress } from '../store/address.ts';
import { ENV_FILE, generateMissing, readEnvFile, type Variables, withoutEmpty } from './env-file.ts';
import { Secret } from './secret.ts';
import { parseVariables } from './variables.ts';

/** How the service is to run. */
export interface Config {
  readonly port: number;
  /** The address to listen on; all interfaces when absent. */
  readonly host?: string;
  readonly store: StoreAddress;
  readonly corsOrigins: readonly string[];
  readonly trustProxy: boolean | number | readonly string[];
  readonly clientLimits: ClientLimits;
  /** The least grave of the log lines that are written. */
  readonly logLevel: LogLevel;
  /** Whether the service measures itself, and shows it at `/metrics`. */
  readonly hasMetrics: boolean;
}

/** What clients may take of the service. */
export interface ClientLimits {
  /** How long the head of a request may take to arrive. */
  readonly headersMs: number;
  /** How long a whole request may take to arrive. */
  readonly requestMs: number;
  /** How long a client may take to read the next part of its answer, or stand still in its request. */
  readonly stallMs: number;
  /** How many connections there may be; who comes then is refused. */
  readonly connections: number;
  /** How long all are served as before when the service is told to stop, so that who sends them here may notice. */
  readonly stopDelayMs: number;
}

/** What nobody else may know. */
export interface Secrets {
  /** The key that signs and verifies tokens. */
  readonly token: Secret;
  /** Another key whose signatures are accepted, while one key takes the place of the other. */
  readonly previousToken?: Secret;
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
  /** How many processes serve. */
  readonly workers: number;
  /** Where the password was found. */
  readonly passwordIn: 'environment' | 'file';
  /** The names of the variables that were generated just now. */
  readonly generated: readonly string[];
  readonly warnings: readonly string[];
  /** All that was read: a process with this environment is configured alike, whatever becomes of `.env`. */
  readonly variables: Variables;
}

/**
 * Reads the configuration from the environment and, where that is silent, from `.env` in the working directory. What
 * must not be left unset is generated and written there, unless `NODE_ENV` is `production`.
 *
 * @throws ConfigError with all faults at once
 */
export function loadConfig(): Configuration {
  const known = loadVariables();
  const environment = withoutEmpty(process.env);
  try {
    const isProduction = known.NODE_ENV === 'production';
    // What cannot be used ends the start before anything is written.
    if (!isProduction) readConfig({ SECRET_TOKEN: 'to come', AUTH_PASSWORD: 'to come', ...known });
    const { variables, generated } = isProduction
      ? { variables: known, generated: [] }
      : generateMissing(environment);
    const passwordIn = environment.AUTH_PASSWORD === undefined ? 'file' : 'environment';
    return { ...readConfig(variables), generated, passwordIn, variables };
  } catch (error) {
    throw toConfigError(error);
  }
}

/** The variables of the environment and `.env`; nothing is generated. @throws ConfigError when `.env` cannot be read */
export function loadVariables(): Variables {
  try {
    return { ...readEnvFile(), ...withoutEmpty(process.env) };
  } catch (error) {
    throw toConfigError(error);
  }
}

/** The store of the configuration, for commands that need nothing else. @throws ConfigError */
export function loadStoreAddress(): StoreAddress {
  const { DB_URL = '' } = loadVariables();
  return readConfig({ DB_URL, SECRET_TOKEN: 'unused', AUTH_PASSWORD: 'unused' }).config.store;
}

function toConfigError(error: unknown): unknown {
  if (error instanceof SyntaxError) return new ConfigError(error.message);
  if (error instanceof ConfigError || !(error instanceof Error && 'code' in error)) return error;
  return new ConfigError(
    `the file ${ENV_FILE} cannot be read or written (${String(error.code)}): set SECRET_TOKEN and AUTH_PASSWORD`,
  );
}

/** Reads the configuration from variables. @throws ConfigError with all faults at once */
export function readConfig(
  variables: Variables,
): Omit<Configuration, 'generated' | 'passwordIn' | 'variables'> {
  const parsed = parseVariables(variables);
  if ('faults' in parsed) throw new ConfigError(parsed.faults.join('; '));
  const { values } = parsed;
  const { SECRET_TOKEN: token, SECRET_TOKEN_PREVIOUS: previousToken } = values;
  const isSqlite = values.DB_URL.engine === 'sqlite';
  return {
    config: {
      port: values.PORT,
      ...(values.HOST && { host: values.HOST }),
      store: values.DB_URL,
      corsOrigins: values.CORS_ORIGINS,
      trustProxy: values.TRUST_PROXY,
      clientLimits: {
        headersMs: Math.min(values.HEADERS_TIMEOUT_SECONDS, values.REQUEST_TIMEOUT_SECONDS),
        requestMs: values.REQUEST_TIMEOUT_SECONDS,
        stallMs: values.STALL_TIMEOUT_SECONDS,
        connections: values.CONNECTIONS_MAX,
        stopDelayMs: values.STOP_DELAY_SECONDS,
      },
      logLevel: values.LOG_LEVEL,
      hasMetrics: values.METRICS,
    },
    secrets: {
      token: new Secret(token),
      ...(previousToken && { previousToken: new Secret(previousToken) }),
      username: values.AUTH_USERNAME,
      password: new Secret(values.AUTH_PASSWORD),
    },
    workers: isSqlite ? 1 : values.WORKERS,
    warnings: [
      ...(isWeak(token) ? [`SECRET_TOKEN is shorter than ${SECRET_BYTES_RECOMMENDED} bytes`] : []),
      ...(previousToken && isWeak(previousToken)
        ? [`SECRET_TOKEN_PREVIOUS is shorter than ${SECRET_BYTES_RECOMMENDED} bytes`]
        : []),
      ...(isSqlite && values.WORKERS > 1
        ? ['WORKERS is taken as 1: a SQLite file is written by one process']
        : []),
    ],
  };
}

function isWeak(secret: string): boolean {
  return Buffer.byteLength(secret) < SECRET_BYTES_RECOMMENDED;
}
