import { FOLDING_VERSION } from './folding.ts';

/** The version of an index, such as `schema 3, folding 2, Unicode 17.0`. @param schema that of the tables of an engine */
export function indexVersion(schema: number): string {
  return `schema ${schema}, folding ${FOLDING_VERSION}, Unicode ${process.versions.unicode}`;
}
