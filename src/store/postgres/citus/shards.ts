import { ID_MAX } from '../../../book/book.ts';

/** The shards of the table of books. If they change, statements only become slower, until the service restarts. */
export class Shards {
  readonly #starts: readonly number[];

  /** @param starts the lowest hash of each shard, in ascending order */
  constructor(starts: readonly number[]) {
    this.#starts = starts;
  }

  /**
   * How many consecutive ids usually include so many of one shard. The fullest shard has more of them than the average: for 10 of
   * one of 32 shards, 241 ids are enough (not 320), of which the average shard has 7.5.
   */
  idsToDraw(count: number): number {
    if (count === 1) return 1;
    const shards = this.#starts.length;
    return Math.ceil(shards * (count - 0.3 * Math.sqrt(2 * Math.log(shards) * count)));
  }

  /** Selects ids of one shard. @returns undefined when no shard has so many of these ids */
  selectOfOne(ids: readonly number[], count: number): number[] | undefined {
    // The last ids are not worth a choice.
    if ((ids.at(-1) as number) > ID_MAX) return ids.slice(0, count);
    const groups = [...Map.groupBy(ids, (id) => this.shardOf(id)).values()];
    const fullest = groups.reduce((one, other) => (other.length > one.length ? other : one));
    return fullest.length < count ? undefined : fullest.slice(0, count);
  }

  /** The number of the shard of this id. */
  shardOf(id: number): number {
    const hash = hashOf(id);
    return this.#starts.findLastIndex((start) => start <= hash);
  }
}

/** The hash by which Citus distributes: PostgreSQL's `hashint8`. */
export function hashOf(id: number): number {
  const low = id | 0;
  const high = Math.floor(id / 2 ** 32) | 0;
  return mix(id >= 0 ? low ^ high : low ^ ~high);
}

/** PostgreSQL's `hash_bytes_uint32`, the last step of Bob Jenkins' lookup3. */
function mix(key: number): number {
  const start = (0x9e3779b9 + 4 + 3_923_095) | 0;
  let [a, b, c] = [(start + key) | 0, start, start];
  c = ((c ^ b) - rotate(b, 14)) | 0;
  a = ((a ^ c) - rotate(c, 11)) | 0;
  b = ((b ^ a) - rotate(a, 25)) | 0;
  c = ((c ^ b) - rotate(b, 16)) | 0;
  a = ((a ^ c) - rotate(c, 4)) | 0;
  b = ((b ^ a) - rotate(a, 14)) | 0;
  return ((c ^ b) - rotate(b, 24)) | 0;
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
