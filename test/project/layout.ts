import { posix } from 'node:path';
import { importsOf, type Sources } from './imports.ts';

/** The folders that have more files of their own than they may, a line each. */
export function crowdedFolders(paths: readonly string[], maxOf: (folder: string) => number): string[] {
  return [...Map.groupBy(paths, (path) => posix.dirname(path))]
    .filter(([folder, files]) => files.length > maxOf(folder))
    .map(([folder, files]) => `${folder} has ${files.length} files`);
}

/** The base names that several files have, but for `index.ts`, and for a file of each engine at the same place. */
export function repeatedNames(paths: readonly string[]): string[] {
  const places = new Set(
    paths.map((path) => path.replace(/^src\/store\/(sqlite|postgres)\//, 'src/store/ENGINE/')),
  );
  return [...Map.groupBy(places, (path) => posix.basename(path))]
    .filter(([name, files]) => name !== 'index.ts' && files.length > 1)
    .map(([, files]) => files.join(', '));
}

/** The files that one engine has at the top of its folder, and the other one has not. */
export function filesWithoutTwin(paths: readonly string[]): string[] {
  const namesOf = (engine: string) =>
    new Set(
      paths
        .filter((path) => posix.dirname(path) === `src/store/${engine}`)
        .map((path) => posix.basename(path)),
    );
  return [...namesOf('sqlite').symmetricDifference(namesOf('postgres'))];
}

/** The packages that no source imports, and of which the file that is said to use them does not have the text. */
export function unusedPackages(
  names: readonly string[],
  sources: Sources,
  usedOtherwise: Readonly<Record<string, readonly [path: string, text: string]>>,
): string[] {
  const imported = [...sources].flatMap(([path, source]) => importsOf(path, source));
  return names.filter((name) => {
    const [path, text = ''] = usedOtherwise[name] ?? [];
    if (path !== undefined) return !sources.get(path)?.includes(text);
    return !imported.some((specifier) => specifier === name || specifier.startsWith(`${name}/`));
  });
}

/** What a way from a route to its SQL has to be. */
export interface Way {
  /** The files in the order in which a request meets them. */
  readonly files: readonly string[];
  /** The text of the route, in the first file. */
  readonly route: string;
  /** What the SQL in the last file matches. */
  readonly sql: RegExp;
  readonly filesMax: number;
}

/**
 * Where a way is not one: each file is imported by one before it, is the module of a thread that one before it starts,
 * or implements the interface `BookStore` that one before it imports, whose module is not counted.
 */
export function faultsOfWay({ files, route, sql, filesMax }: Way, sources: Sources): string[] {
  const faults: string[] = [];
  const textOf = (path: string | undefined) => sources.get(path ?? '') ?? '';
  if (files.length > filesMax) faults.push(`${files.length} files`);
  if (!textOf(files[0]).includes(route)) faults.push(`${files[0]} has no ${route}`);
  if (!sql.test(textOf(files.at(-1)))) faults.push(`${files.at(-1)} has no ${sql}`);
  for (const [index, file] of files.entries()) {
    const before = files.slice(0, index);
    const isReached = before.some((path) => leadsTo(path, textOf(path), file));
    const implementsStore =
      textOf(file).includes('implements BookStore') &&
      before
        .flatMap((path) => importsOf(path, textOf(path)))
        .some((path) => textOf(path).includes('interface BookStore'));
    if (index > 0 && !isReached && !implementsStore) faults.push(`${file} is imported by none before it`);
  }
  return faults;
}

function leadsTo(path: string, source: string, target: string): boolean {
  const threads = source.matchAll(/new URL\(\s*'([^']+\.ts)'/g);
  const modules = [...threads].map(([, specifier = '']) => posix.join(posix.dirname(path), specifier));
  return [...importsOf(path, source), ...modules].includes(target);
}
