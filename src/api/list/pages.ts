/** The parts that a list is sent in: pages of books as JSON, rendered by the store, become one array. */

export const OPEN = Buffer.from('[');
export const COMMA = Buffer.from(',');
export const CLOSE = Buffer.from(']');

/** What is handed over at a time of pages of long books: a slow reader gets on in steps, and one page waits for it. */
const SLICE_BYTES = 128 * 1_024;

/** A page in pieces that are sent one after the other. */
export function* slices(json: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < json.length; at += SLICE_BYTES) yield json.subarray(at, at + SLICE_BYTES);
}

/** Pages as the parts of one array; empty ones are left out. */
export function inBrackets(pages: readonly Uint8Array[]): Uint8Array[] {
  const parts = pages
    .filter(({ length }) => length > 0)
    .flatMap((json, index) => (index > 0 ? [COMMA, json] : [json]));
  return [OPEN, ...parts, CLOSE];
}

/** HEAD has no content, so nothing is asked for. */
export async function* noPages(): AsyncGenerator<Uint8Array> {}
