import type { ClientBase } from 'pg';
import type { TrigramStatistics } from './trigrams.ts';

/** The time after which the frequencies are read again; the server counts them again minutes after many changes. */
const REMEMBERED_MS = 60_000;

/** The commonest trigrams, at most a thousand, by the statistics of the server: whichever they are, searches have the same results. */
export class CommonTrigrams {
  #statistics: TrigramStatistics = NO_STATISTICS;
  #untilMs = 0;

  /** Without frequencies before the table is analyzed. A statement once a minute. */
  async statistics(client: ClientBase): Promise<TrigramStatistics> {
    const now = performance.now();
    if (now >= this.#untilMs) {
      const { rows } = await client.query<{ trigram: number; frequency: number; books: number }>(
        SELECT_FREQUENCIES,
      );
      const frequencies = new Map(rows.map(({ trigram, frequency }) => [trigram, frequency]));
      const othersMax = Math.min(1, ...frequencies.values());
      this.#statistics = { frequencies, othersMax, books: rows[0]?.books ?? Infinity };
      this.#untilMs = now + REMEMBERED_MS;
    }
    return this.#statistics;
  }
}

export const NO_STATISTICS: TrigramStatistics = { frequencies: new Map(), othersMax: 1, books: Infinity };

/** The frequencies end with three that are of no trigram. */
const SELECT_FREQUENCIES = `
  select trigram, frequency, reltuples as books
  from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    join pg_stats on schemaname = nspname and tablename = relname and attname = 'trigrams'
    cross join unnest(most_common_elems::text::smallint[], most_common_elem_freqs) as common (trigram, frequency)
  where pg_class.oid = 'book_search'::regclass and trigram is not null
`;
