const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');

/** The size of the chunks of a stream: a client that reads slowly makes progress with each of them. */
const CHUNK_BYTES = 128 * 1_024;

/** Joins pages, which the store renders as JSON with commas between the books, to the chunks of one array. */
export function toArray(pages: readonly Uint8Array[]): Uint8Array[] {
  const parts = pages
    .filter(({ length }) => length > 0)
    .flatMap((json, index) => (index > 0 ? [COMMA, json] : [json]));
  return [OPEN, ...parts, CLOSE];
}

/** A JSON array of pages, whose books are separated by commas, in chunks of at most {@link CHUNK_BYTES}. */
export async function* streamArray(pages: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield OPEN;
  let isFirst = true;
  for await (const json of pages) {
    if (json.length === 0) continue;
    if (!isFirst) yield COMMA;
    for (let at = 0; at < json.length; at += CHUNK_BYTES) yield json.subarray(at, at + CHUNK_BYTES);
    isFirst = false;
  }
  yield CLOSE;
}

/** The stream of a response to HEAD, which has no content. */
export async function* noContent(): AsyncGenerator<Uint8Array> {}
