import { FIXED_LIMITS, type HttpLimits } from '../http/limits.ts';
import type { LogLevel } from '../log/log-level.ts';
import { Secret } from '../secret.ts';
import type { StoreAddress } from '../store/address.ts';
import {
  ENV_FILE,
  generateMissing,
  hasAll,
  readEnvFile,
  SECRET_NAMES,
  type Variables,
  withoutEmpty,
} from './env-file.ts';
import { parseVariables } from './variables.ts';

export interface ServiceConfig {
  readonly port: number;
  /** The address to listen on; all interfaces when absent. */
  readonly host?: string;
  readonly store: StoreAddress;
  readonly corsOrigins: readonly string[];
  readonly trustProxy: boolean | number | readonly string[];
  readonly limits: HttpLimits;
  readonly logLevel: LogLevel;
  readonly hasMetrics: boolean;
  /** How many days changes are kept; absent when they are not recorded. */
  readonly historyDays?: number;
}

export interface Secrets {
  /** The key that signs and verifies tokens. */
  readonly tokenKey: Secret;
  /** The key before a rotation: it only verifies. */
  readonly previousTokenKey?: Secret;
  readonly username: string;
  readonly password: Secret;
}

/** A key shorter than the hash is weaker than the algorithm (RFC 7518, section 3.2). */
const SECRET_BYTES_RECOMMENDED = 32;

/** An invalid configuration. The message lists every error with its variable, and no value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export interface LoadedConfiguration {
  readonly config: ServiceConfig;
  readonly secrets: Secrets;
  readonly passwordIn: 'environment' | 'file';
  /** The names of the variables that were generated. */
  readonly generated: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Reads the configuration from the environment, and from `.env` in the working directory for unset variables. Generates
 * missing secrets and writes them to `.env`, unless `NODE_ENV` is `production`.
 *
 * @throws ConfigError with all errors at once
 */
export function loadConfig(): LoadedConfiguration {
  const { variables: known, warnings } = loadVariables();
  const environment = withoutEmpty(process.env);
  const load = (variables: Variables, generated: readonly string[]): LoadedConfiguration => {
    const read = readConfig(variables);
    const passwordIn = environment.AUTH_PASSWORD === undefined ? 'file' : 'environment';
    return { ...read, generated, passwordIn, warnings: [...warnings, ...read.warnings] };
  };
  if (known.NODE_ENV === 'production' || hasAll(known, SECRET_NAMES)) return load(known, []);
  // Fails before anything is written.
  readConfig({ SECRET_TOKEN: 'unused', AUTH_PASSWORD: 'unused', ...known });
  try {
    const { variables, generated } = generateMissing(environment);
    return load(variables, generated);
  } catch (error) {
    throw toConfigError(error, SECRET_NAMES);
  }
}

interface LoadedVariables {
  readonly variables: Variables;
  /** That `.env` is not used, and why. */
  readonly warnings: readonly string[];
}

/**
 * The variables of the environment and `.env`; nothing is generated. If `.env` cannot be read, those of the environment.
 *
 * @param needed the names without which the environment is not enough
 * @throws ConfigError when a line of `.env` is unclear; or when it cannot be read, and the environment lacks a needed variable
 */
export function loadVariables(needed: readonly string[] = SECRET_NAMES): LoadedVariables {
  const environment = withoutEmpty(process.env);
  try {
    return { variables: { ...readEnvFile(), ...environment }, warnings: [] };
  } catch (error) {
    const reason = fileErrorOf(error);
    if (!reason || !hasAll(environment, needed)) throw toConfigError(error, needed);
    const warning = `the file ${ENV_FILE} cannot be read (${reason}); it is not used, as the environment has ${needed.join(' and ')}`;
    return { variables: environment, warnings: [warning] };
  }
}

/** The store of the configuration, for commands that need nothing else. @throws ConfigError */
export function loadStoreAddress(): StoreAddress {
  const { DB_URL = '' } = loadVariables(['DB_URL']).variables;
  return readConfig({ DB_URL, SECRET_TOKEN: 'unused', AUTH_PASSWORD: 'unused' }).config.store;
}

/** The code of an error of the file system; undefined for any other. */
function fileErrorOf(error: unknown): string | undefined {
  if (error instanceof SyntaxError || !(error instanceof Error && 'code' in error)) return undefined;
  return error.code === 'EISDIR' ? 'EISDIR, a folder' : String(error.code);
}

function toConfigError(error: unknown, needed: readonly string[]): unknown {
  if (error instanceof SyntaxError) return new ConfigError(error.message);
  const reason = fileErrorOf(error);
  if (!reason) return error;
  return new ConfigError(
    `the file ${ENV_FILE} cannot be read or written (${reason}): set ${needed.join(' and ')} in the environment`,
  );
}

/** Reads the configuration from variables. @throws ConfigError with all errors at once */
export function readConfig(variables: Variables): Omit<LoadedConfiguration, 'generated' | 'passwordIn'> {
  const parsed = parseVariables(variables);
  if ('errors' in parsed) throw new ConfigError(parsed.errors.join('; '));
  const { values } = parsed;
  const { SECRET_TOKEN: tokenKey, SECRET_TOKEN_PREVIOUS: previousTokenKey } = values;
  const weakSecrets = Object.entries({
    SECRET_TOKEN: tokenKey,
    SECRET_TOKEN_PREVIOUS: previousTokenKey,
  }).filter(([, secret]) => secret !== '' && Buffer.byteLength(secret) < SECRET_BYTES_RECOMMENDED);
  return {
    config: {
      port: values.PORT,
      ...(values.HOST && { host: values.HOST }),
      store: values.DB_URL,
      corsOrigins: values.CORS_ORIGINS,
      trustProxy: values.TRUST_PROXY,
      limits: {
        ...FIXED_LIMITS,
        headersMs: Math.min(values.HEADERS_TIMEOUT_SECONDS, values.REQUEST_TIMEOUT_SECONDS),
        requestMs: values.REQUEST_TIMEOUT_SECONDS,
        stallMs: values.STALL_TIMEOUT_SECONDS,
        connections: values.CONNECTIONS_MAX,
        stopDelayMs: values.STOP_DELAY_SECONDS,
      },
      logLevel: values.LOG_LEVEL,
      hasMetrics: values.METRICS,
      ...((values.HISTORY ?? values.DB_URL.engine === 'sqlite') && { historyDays: values.HISTORY_DAYS }),
    },
    secrets: {
      tokenKey: new Secret(tokenKey),
      ...(previousTokenKey && { previousTokenKey: new Secret(previousTokenKey) }),
      username: values.AUTH_USERNAME,
      password: new Secret(values.AUTH_PASSWORD),
    },
    warnings: weakSecrets.map(([name]) => `${name} is shorter than ${SECRET_BYTES_RECOMMENDED} bytes`),
  };
}
