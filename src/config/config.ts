import { FIXED_LIMITS, type HttpLimits } from '../http/limits.ts';
import type { LogLevel } from '../log/log-level.ts';
import { Secret } from '../secret.ts';
import type { StoreAddress } from '../store/address.ts';
import { ENV_FILE, generateMissing, readEnvFile, type Variables, withoutEmpty } from './env-file.ts';
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
  const known = loadVariables();
  const environment = withoutEmpty(process.env);
  try {
    const passwordIn = environment.AUTH_PASSWORD === undefined ? 'file' : 'environment';
    if (known.NODE_ENV === 'production') return { ...readConfig(known), generated: [], passwordIn };
    // Fails before anything is written.
    readConfig({ SECRET_TOKEN: 'unused', AUTH_PASSWORD: 'unused', ...known });
    const { variables, generated } = generateMissing(environment);
    return { ...readConfig(variables), generated, passwordIn };
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
