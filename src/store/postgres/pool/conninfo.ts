import { Secret } from '../../../config/secret.ts';

/** What libpq calls the connection parameters; the names of its keywords, as far as this service uses them. */
export interface Conninfo {
  /** At least one, in the order in which they are tried. */
  readonly hosts: readonly Host[];
  readonly sessionAttributes: SessionAttributes;
  /** Whether the hosts are tried in an order by chance. */
  readonly isBalanced: boolean;
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

/** One of the hosts of a connection string. What is absent is the driver's default. */
export interface Host {
  /** Its name, its address, or the folder of a unix socket. */
  readonly name?: string;
  /** Where to connect to, instead of looking up the name. */
  readonly address?: string;
  readonly port?: number;
}

const SESSION_ATTRIBUTES = [
  'any',
  'read-write',
  'read-only',
  'primary',
  'standby',
  'prefer-standby',
] as const;
/** What a server must be like (PostgreSQL documentation, "Parameter Key Words", `target_session_attrs`). */
export type SessionAttributes = (typeof SESSION_ATTRIBUTES)[number];

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

  const hosts = readHosts(take('host'), take('hostaddr'), take('port'));
  const password = take('password');

  return definedOnly({
    hosts,
    // A service that writes has no use for the first of several servers that happens to be a standby.
    sessionAttributes: oneOf(
      'target_session_attrs',
      take('target_session_attrs') ?? (hosts.length > 1 ? 'read-write' : 'any'),
      SESSION_ATTRIBUTES,
    ),
    isBalanced:
      oneOf('load_balance_hosts', take('load_balance_hosts') ?? 'disable', ['disable', 'random']) ===
      'random',
    user: take('user'),
    password: password === undefined ? undefined : new Secret(password),
    dbname: take('dbname'),
    sslmode: oneOf('sslmode', take('sslmode') ?? 'prefer', SSL_MODES),
    sslrootcert: take('sslrootcert'),
    sslcert: take('sslcert'),
    sslkey: take('sslkey'),
    connectTimeoutSeconds: wholeNumber('connect_timeout', take('connect_timeout'), 0, 3_600),
    applicationName: take('application_name') ?? 'bookkeeping',
    options: take('options'),
  });
}

/**
 * Lists as libpq has them: hosts and addresses go in pairs, and there is one port for all or one for each. What is left
 * empty is the default.
 */
function readHosts(
  names: string | undefined,
  addresses: string | undefined,
  ports: string | undefined,
): readonly Host[] {
  const [nameList, addressList, portList] = [names, addresses, ports].map((list) => list?.split(','));
  const count = (addressList ?? nameList)?.length ?? 1;
  if (nameList && nameList.length !== count) throw new Error('host and hostaddr must list as many hosts');
  if (portList && portList.length !== 1 && portList.length !== count) {
    throw new Error('port must list one port, or as many as there are hosts');
  }
  return Array.from({ length: count }, (_, index) =>
    definedOnly<Host>({
      name: nameList?.[index] || undefined,
      address: addressList?.[index] || undefined,
      port: wholeNumber('port', portList?.[portList.length === 1 ? 0 : index] || undefined, 1, 65_535),
    }),
  );
}

/** `postgres://[user[:password]@][host[:port][,…]][/dbname][?keyword=value&…]`, every part percent-encoded. */
function parseUrl(text: string): Map<string, string> {
  const url = /^[a-z]+:\/\/(?:([^:@/?]*)(?::([^/?]*))?@)?([^@/?]*)(?:\/([^?]*))?(?:\?(.*))?$/is.exec(text);
  const [, user, password, list = '', dbname, query] = url ?? [];
  const hosts = list.split(',').map((host) => /^(?:\[([^\]]*)\]|([^:[\]]*))(?::([^:]*))?$/.exec(host));
  if (!url || !hosts.every((host) => host !== null)) {
    throw new Error('it is not a URL of the form postgres://user:password@host:port/database');
  }
  const ports = hosts.map(([, , , port = '']) => port);
  // It would be taken for the host and the database, which error messages name.
  const isUserCutOff = user === undefined && `${dbname ?? ''}${query?.split('=')[0] ?? ''}`.includes('@');
  if (isUserCutOff) throw new Error('a / in its user or password must be written as %2F, and a ? as %3F');
  const keywords = new Map<string, string>();
  const put = (name: string, value: string | undefined) => {
    if (value) keywords.set(name, decode(value));
  };
  put('user', user);
  put('password', password);
  put('host', hosts.map(([, address, name = '']) => address ?? name).join(','));
  if (ports.some((port) => port !== '')) put('port', ports.join(','));
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

function oneOf<Word extends string>(name: string, text: string, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === text);
  if (word === undefined) throw new Error(`${name} must be one of ${words.join(', ')}`);
  return word;
}

/** Leaves out what is undefined, for types that tell absent from undefined. */
function definedOnly<Type extends object>(object: { [Key in keyof Type]: Type[Key] | undefined }): Type {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Type;
}
