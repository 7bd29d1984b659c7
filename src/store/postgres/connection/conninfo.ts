import { Secret } from '../../../secret.ts';

/** The connection parameters of libpq that this service uses; absent ones have the driver's defaults. */
export interface Conninfo {
  /** The name, the address, or the directory of a Unix socket. */
  readonly host?: string;
  /** The address to connect to, instead of a lookup of the name. */
  readonly hostaddr?: string;
  readonly port?: number;
  readonly user?: string;
  readonly password?: Secret;
  readonly dbname?: string;
  readonly sslmode: SslMode;
  readonly sslrootcert?: string;
  readonly sslcert?: string;
  readonly sslkey?: string;
  readonly connectTimeoutMs: number;
  readonly applicationName: string;
  readonly options?: string;
}

/** The time to open a connection, unless `connect_timeout` is set. */
const CONNECT_TIMEOUT_MS = 1_500;

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
/** As in libpq (PostgreSQL documentation, "SSL Support", table "SSL Mode Descriptions"). */
type SslMode = (typeof SSL_MODES)[number];

/**
 * Parses a connection string of libpq: a URL (`postgres://user:password@host:5432/books`) or keywords
 * (`host=db user=app dbname=books`). Unknown keywords are ignored.
 *
 * @throws Error whose message contains no value of the string
 */
export function parseConninfo(text: string): Conninfo {
  const keywords = /^postgres(ql)?:\/\//i.test(text) ? parseUrl(text) : parseKeywords(text);
  const parameter = (name: string) => keywords.get(name) || undefined;
  const [host, hostaddr] = [parameter('host'), parameter('hostaddr')];
  if (host?.includes(',') || hostaddr?.includes(',')) throw new Error(SEVERAL_HOSTS);
  const password = parameter('password');
  const connectTimeoutSeconds = wholeNumber('connect_timeout', parameter('connect_timeout'), 0, 3_600);

  return definedOnly({
    host,
    hostaddr,
    port: wholeNumber('port', parameter('port'), 1, 65_535),
    user: parameter('user'),
    password: password === undefined ? undefined : new Secret(password),
    dbname: parameter('dbname'),
    sslmode: oneOf('sslmode', parameter('sslmode') ?? 'prefer', SSL_MODES),
    sslrootcert: parameter('sslrootcert'),
    sslcert: parameter('sslcert'),
    sslkey: parameter('sslkey'),
    connectTimeoutMs: connectTimeoutSeconds ? connectTimeoutSeconds * 1_000 : CONNECT_TIMEOUT_MS,
    applicationName: parameter('application_name') ?? 'bookkeeping',
    options: optionsOf(keywords),
  });
}

/**
 * The options of the server, with the schemas: Prisma names one as `schema`, and the driver of Go several as `search_path`, which may
 * be in the URL of a service that they used before. Prisma's `schema=public` is the default, and PgBouncer rejects these options.
 */
function optionsOf(keywords: ReadonlyMap<string, string>): string | undefined {
  const schema = keywords.get('schema');
  const path =
    schema && schema !== 'public' ? `"${schema.replaceAll('"', '""')}"` : keywords.get('search_path');
  // In options, a backslash is before each blank and backslash of a value.
  const searchPath = path && `-csearch_path=${path.replace(/[\\\s]/g, '\\$&')}`;
  return [keywords.get('options'), searchPath].filter(Boolean).join(' ') || undefined;
}

/** Choosing the primary is the task of what manages the failover: a service that chose it, too, could choose another one. */
const SEVERAL_HOSTS =
  'it must name one host: the address of what leads to the primary, such as HAProxy with Patroni, PgBouncer, ' +
  'a virtual IP, or the endpoint of the cloud (docs/postgresql.md, Failover)';

/** `postgres://[user[:password]@][host[:port]][/dbname][?keyword=value&…]`, every part percent-encoded. */
function parseUrl(text: string): Map<string, string> {
  const url = /^[a-z]+:\/\/(?:([^:@/?]*)(?::([^/?]*))?@)?([^@/?]*)(?:\/([^?]*))?(?:\?(.*))?$/is.exec(text);
  const [, user, password, authority = '', dbname, query] = url ?? [];
  if (authority.includes(',')) throw new Error(SEVERAL_HOSTS);
  const host = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::([^:]*))?$/.exec(authority);
  if (!host) throw new Error('it is not a URL of the form postgres://user:password@host:port/database');
  const [, address, hostName, port] = host;
  // It would be read as the host and the database, which error messages contain.
  const isUserTruncated = user === undefined && `${dbname ?? ''}${query?.split('=')[0] ?? ''}`.includes('@');
  if (isUserTruncated) throw new Error('a / in its user or password must be written as %2F, and a ? as %3F');
  const keywords = new Map<string, string>();
  const put = (name: string, value: string | undefined) => {
    if (value) keywords.set(name, decode(value));
  };
  put('user', user);
  put('password', password);
  put('host', address ?? hostName);
  put('port', port);
  put('dbname', dbname);
  for (const pair of query?.split('&') ?? []) {
    const [name = '', value = ''] = pair.split(/=(.*)/s);
    if (name === 'ssl' && value === 'true') put('sslmode', 'require');
    else put(decode(name), value);
  }
  return keywords;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('a % in it is not followed by two hexadecimal digits');
  }
}

/** `keyword = value …`, with quotes and backslashes as in libpq. */
function parseKeywords(text: string): Map<string, string> {
  const keywords = new Map<string, string>();
  const pair = /\s*([A-Za-z_]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s'\\]|\\.)*))(?=\s|$)/suy;
  const rest = text.trimEnd();
  while (pair.lastIndex < rest.length) {
    const match = pair.exec(rest);
    if (!match) throw new Error('it is not a list of keyword=value pairs');
    const [, name = '', quoted, plain] = match;
    keywords.set(name.toLowerCase(), (quoted ?? plain ?? '').replace(/\\(.)/gsu, '$1'));
  }
  return keywords;
}

function wholeNumber(name: string, text: string | undefined, min: number, max: number): number | undefined {
  if (text === undefined) return undefined;
  const value = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max))
    throw new Error(`${name} must be a whole number from ${min} to ${max}`);
  return value;
}

function oneOf<Word extends string>(name: string, text: string, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === text);
  if (word === undefined) throw new Error(`${name} must be one of ${words.join(', ')}`);
  return word;
}

function definedOnly<Type extends object>(object: { [Key in keyof Type]: Type[Key] | undefined }): Type {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Type;
}
