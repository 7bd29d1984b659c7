import type { ClientBase } from 'pg';

/** The time after which the frequencies are read again; the server counts them again minutes after many changes. */
const REMEMBERED_MS = 60_000;

/** The commonest trigrams, at most a thousand, by the statistics of the server: whichever they are, searches have the same results. */
export class CommonTrigrams {
  #frequencies: ReadonlyMap<number, number> = new Map();
  #untilMs = 0;

  /** The shares of the books that have them; none before the table is analyzed. A statement once a minute. */
  async frequencies(client: ClientBase): Promise<ReadonlyMap<number, number>> {
    const now = performance.now();
    if (now >= this.#untilMs) {
      const { rows } = await client.query<{ trigram: number; frequency: number }>(SELECT_FREQUENCIES);
      this.#frequencies = new Map(rows.map(({ trigram, frequency }) => [trigram, frequency]));
      this.#untilMs = now + REMEMBERED_MS;
    }
    return this.#frequencies;
  }
}

/** The frequencies end with three that are of no trigram. */
const SELECT_FREQUENCIES = `
  select trigram, frequency
  from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    join pg_stats on schemaname = nspname and tablename = relname and attname = 'trigrams'
    cross join unnest(most_common_elems::text::smallint[], most_common_elem_freqs) as common (trigram, frequency)
  where pg_class.oid = 'book_search'::regclass and trigram is not null
`;
