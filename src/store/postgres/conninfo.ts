import { Secret } from '../../secret.ts';

/** What libpq calls the connection parameters; the names of its keywords, as far as this service uses them. */
export interface Conninfo {
  readonly host?: string;
  readonly port?: number;
  readonly user?: string;
  readonly password?: Secret;
  readonly dbname?: string;
  readonly sslmode: SslMode;
  readonly sslrootcert?: string;
  readonly sslcert?: string;
  readonly sslkey?: string;
  readonly connectTimeoutSeconds?: number;
  readonly applicationName: string;
  readonly options?: string;
}

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
/** The meaning is libpq's (PostgreSQL documentation, "SSL Support", table "SSL Mode Descriptions"). */
export type SslMode = (typeof SSL_MODES)[number];

/**
 * Reads the two forms of a connection string that libpq has: a URL (`postgres://user:password@host:5432/books`) and
 * keywords (`host=db user=app dbname=books`). Keywords that only other drivers know are ignored.
 *
 * @throws Error whose message says what is wrong, without any value of the string
 */
export function parseConninfo(text: string): Conninfo {
  const keywords = /^postgres(ql)?:\/\//i.test(text) ? parseUrl(text) : parseKeywords(text);
  const take = (name: string) => keywords.get(name) || undefined;

  const sslmode = take('sslmode') ?? 'prefer';
  if (!isSslMode(sslmode)) throw new Error(`sslmode must be one of ${SSL_MODES.join(', ')}`);
  const host = take('hostaddr') ?? take('host');
  const port = wholeNumber('port', take('port'), 1, 65_535);
  if (host?.includes(',')) throw new Error('a list of hosts is not supported');
  const password = take('password');

  return definedOnly({
    host,
    port,
    user: take('user'),
    password: password === undefined ? undefined : new Secret(password),
    dbname: take('dbname'),
    sslmode,
    sslrootcert: take('sslrootcert'),
    sslcert: take('sslcert'),
    sslkey: take('sslkey'),
    connectTimeoutSeconds: wholeNumber('connect_timeout', take('connect_timeout'), 0, 3_600),
    applicationName: take('application_name') ?? 'bookkeeping',
    options: take('options'),
  });
}

/** `postgres://[user[:password]@][host[:port]][/dbname][?keyword=value&…]`, every part percent-encoded. */
function parseUrl(text: string): Map<string, string> {
  const url =
    /^[a-z]+:\/\/(?:([^:@/?]*)(?::([^/?]*))?@)?(\[[^\]]*\]|[^:@/?[\]]*)(?::([^/?]*))?(?:\/([^?]*))?(?:\?(.*))?$/is.exec(
      text,
    );
  if (!url) throw new Error('it is not a URL of the form postgres://user:password@host:port/database');
  const [, user, password, host, port, dbname, query] = url;
  const keywords = new Map<string, string>();
  const put = (name: string, value: string | undefined) => {
    if (value) keywords.set(name, decode(value));
  };
  put('user', user);
  put('password', password);
  put('host', host?.replace(/^\[(.*)\]$/, '$1'));
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

/** `keyword = value …`, with values in single quotes and backslashes as libpq reads them. */
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

function isSslMode(text: string): text is SslMode {
  return (SSL_MODES as readonly string[]).includes(text);
}

/** Leaves out what is undefined, for types that tell absent from undefined. */
function definedOnly<Type extends object>(object: { [Key in keyof Type]: Type[Key] | undefined }): Type {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Type;
}
