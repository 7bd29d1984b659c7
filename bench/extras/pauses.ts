import { sendRequest } from '../services/send-request.ts';
import type { Service } from '../services/service.ts';

/** Histograms of /metrics: what the requests of an open load may have waited for. */
const HISTOGRAMS = {
  collections: /^nodejs_gc_duration_seconds_bucket\{.*le="(.*?)"\} (.*)$/gm,
  commits:
    /^bookkeeping_store_trip_duration_seconds_bucket\{.*operation="(?:write|create)".*le="(.*?)"\} (.*)$/gm,
};

type Pauses = Readonly<Record<keyof typeof HISTOGRAMS, Histogram>>;
/** Cumulative counts by upper bound in seconds. */
type Histogram = ReadonlyMap<number, number>;

/** Reads the pauses of a service so far. @returns undefined for services without metrics */
export async function readPauses({ server }: Service): Promise<Pauses | undefined> {
  const { status, text } = await sendRequest(server.url, 'GET /metrics');
  if (status !== 200 || !text.startsWith('#')) return undefined;
  const read = (pattern: RegExp) => {
    const counts = new Map<number, number>();
    for (const [, bound = '', count] of text.matchAll(pattern)) {
      const seconds = bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound);
      counts.set(seconds, (counts.get(seconds) ?? 0) + Number(count));
    }
    return counts;
  };
  return { collections: read(HISTOGRAMS.collections), commits: read(HISTOGRAMS.commits) };
}

/** The pauses between two readings: their number, and an upper bound of the longest, in milliseconds. */
export function describePauses(before: Histogram, after: Histogram): string {
  const counts = [...after].map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)] as const);
  const total = counts.at(-1)?.[1] ?? 0;
  const longest = counts.find(([, count]) => count === total)?.[0] ?? 0;
  return total === 0 ? 'none' : `${total}, ≤ ${longest * 1_000}`;
}
