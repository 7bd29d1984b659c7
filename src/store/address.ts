import { type Conninfo, parseConninfo } from './postgres/connection/conninfo.ts';

export type StoreAddress =
  | { readonly engine: 'sqlite'; readonly path: string }
  | { readonly engine: 'postgres'; readonly conninfo: Conninfo };

/** @throws Error with a message that contains no value of the string */
export function parseStoreAddress(dbUrl: string): StoreAddress {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(dbUrl)?.[1]?.toLowerCase();
  if (scheme === 'sqlite') return { engine: 'sqlite', path: sqlitePath(dbUrl.slice('sqlite:'.length)) };
  if (scheme === 'postgres' || scheme === 'postgresql' || (!scheme && dbUrl.includes('='))) {
    return { engine: 'postgres', conninfo: parseConninfo(dbUrl) };
  }
  throw new Error(
    'it must begin with sqlite:, postgres:// or postgresql://, or have the form host=… dbname=…',
  );
}

/** `sqlite:PATH`, or `sqlite://PATH` as other tools write it. */
function sqlitePath(text: string): string {
  const path = text.replace(/^\/\//, '');
  if (path === '' || path.endsWith('/')) throw new Error('it names no file');
  if (path.startsWith(':memory:')) throw new Error('a database in memory would lose every book; name a file');
  if (path.includes('?')) throw new Error('parameters after the path are not supported');
  return path;
}
