import { posix } from 'node:path';
import { importsOf, type Sources } from './imports.ts';

/** One line for each folder with too many files. */
export function crowdedFolders(paths: readonly string[], maxOf: (folder: string) => number): string[] {
  return [...Map.groupBy(paths, (path) => posix.dirname(path))]
    .filter(([folder, files]) => files.length > maxOf(folder))
    .map(([folder, files]) => `${folder} has ${files.length} files`);
}

/** Base names of several files, except `index.ts` and engine twins. */
export function repeatedNames(paths: readonly string[]): string[] {
  const locations = new Set(
    paths.map((path) => path.replace(/^src\/store\/(sqlite|postgres)\//, 'src/store/ENGINE/')),
  );
  return [...Map.groupBy(locations, (path) => posix.basename(path))]
    .filter(([name, files]) => name !== 'index.ts' && files.length > 1)
    .map(([, files]) => files.join(', '));
}

/** The top-level files that only one engine has. */
export function filesWithoutTwin(paths: readonly string[]): string[] {
  const namesOf = (engine: string) =>
    new Set(
      paths
        .filter((path) => posix.dirname(path) === `src/store/${engine}`)
        .map((path) => posix.basename(path)),
    );
  return [...namesOf('sqlite').symmetricDifference(namesOf('postgres'))];
}

/** The packages that no source imports, and whose file of `usedOtherwise` lacks the text. */
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

/** The files of a request from its route to its SQL, and their rules. */
export interface RequestPath {
  /** In the order of the request. */
  readonly files: readonly string[];
  /** A text of the first file. */
  readonly route: string;
  /** Matches the last file. */
  readonly sql: RegExp;
  readonly filesMax: number;
}

/**
 * The violations: each file is imported by one before it, is the module of a thread that one before it starts, or implements
 * the interface `BookStore` that one before it imports.
 */
export function errorsOfPath({ files, route, sql, filesMax }: RequestPath, sources: Sources): string[] {
  const errors: string[] = [];
  const textOf = (path: string | undefined) => sources.get(path ?? '') ?? '';
  if (files.length > filesMax) errors.push(`${files.length} files`);
  if (!textOf(files[0]).includes(route)) errors.push(`${files[0]} has no ${route}`);
  if (!sql.test(textOf(files.at(-1)))) errors.push(`${files.at(-1)} has no ${sql}`);
  for (const [index, file] of files.entries()) {
    const before = files.slice(0, index);
    const isReached = before.some((path) => leadsTo(path, textOf(path), file));
    const implementsStore =
      textOf(file).includes('implements BookStore') &&
      before
        .flatMap((path) => importsOf(path, textOf(path)))
        .some((path) => textOf(path).includes('interface BookStore'));
    if (index > 0 && !isReached && !implementsStore) errors.push(`${file} is imported by none before it`);
  }
  return errors;
}

function leadsTo(path: string, source: string, target: string): boolean {
  const threads = source.matchAll(/new URL\(\s*'([^']+\.ts)'/g);
  const modules = [...threads].map(([, specifier = '']) => posix.join(posix.dirname(path), specifier));
  return [...importsOf(path, source), ...modules].includes(target);
}
