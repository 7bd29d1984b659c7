import { FOLDING_VERSION } from './folding.ts';

/** The version of an index, such as `schema 3, folding 2, Unicode 17.0`. @param schema that of the tables of an engine */
export function indexVersion(schema: number): string {
  return `schema ${schema}, folding ${FOLDING_VERSION}, Unicode ${process.versions.unicode}`;
}

/**
 * Compares versions; undefined is before all. The newest version that has searched a store has its index, and searches of older
 * ones are 503: if two replaced the index of each other, neither would ever be complete.
 *
 * @returns a positive number when the second one is newer
 */
export function compareVersions(one: string | null | undefined, other: string): number {
  return other.localeCompare(one ?? '', 'en', { numeric: true });
}
