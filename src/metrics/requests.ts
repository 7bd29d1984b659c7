import { counter, type Family, type Labels } from './family.ts';
import { Histogram, histogram } from './histogram.ts';

/** In seconds: the quickest answers take less than the first, whole lists the last ones. */
const DURATION_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Other methods are one label: clients may send any that the parser knows. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']);

/** What stands for a path that is no route, and for any other method. */
const OTHER = 'other';

/** The statuses of HTTP have three digits. */
const STATUSES_MAX = 1_000;

/** These stand there from the beginning, so that the first failure shows as an increase. */
const FAILURES: ReadonlySet<number> = new Set([500, 503]);

/** Likewise what may be refused on a connection: malformed, late or long heads, and connections beyond the limit. */
const REFUSALS = [400, 408, 431, 503];

/** What came of the requests for one route with one method. */
class Tally {
  readonly labels: Labels;
  readonly answers = new Float64Array(STATUSES_MAX);
  readonly durations = new Histogram(DURATION_BOUNDS);

  constructor(route: string, method: string) {
    this.labels = { route, method };
  }

  *byStatus(): Generator<[Labels, number]> {
    for (const [status, count] of this.answers.entries()) {
      if (count > 0 || FAILURES.has(status)) yield [{ ...this.labels, status: `${status}` }, count];
    }
  }
}

/** Counts requests, as plain numbers: to count one by way of a client library costs fifty times as much. */
export class RequestMetrics {
  readonly #tallies = new Map<string | undefined, Map<string, Tally>>();
  readonly #refusals = new Map(REFUSALS.map((status) => [status, 0]));

  /**
   * Counts a request whose answer has left.
   *
   * @param route as the router writes it; undefined for a path that is no route
   * @param ms how long it took, in milliseconds
   */
  answered(route: string | undefined, method: string, status: number, ms: number): void {
    const tally = this.#tallies.get(route)?.get(method) ?? this.#begin(route, method);
    tally.answers[status] = (tally.answers[status] ?? 0) + 1;
    tally.durations.observe(ms / 1_000);
  }

  /** Counts what was refused on its connection without becoming a request. */
  refused(status: number): void {
    this.#refusals.set(status, (this.#refusals.get(status) ?? 0) + 1);
  }

  families(): Family[] {
    const tallies = new Set(this.#tallies.values().flatMap((methods) => methods.values()));
    return [
      counter(
        'bookkeeping_http_requests_total',
        'Requests whose answer has left, by route, method and status.',
        [...tallies].flatMap((tally) => [...tally.byStatus()]),
      ),
      histogram(
        'bookkeeping_http_request_duration_seconds',
        'Time from the head of a request to the end of its answer.',
        [...tallies].map(({ labels, durations }) => [labels, durations]),
      ),
      counter(
        'bookkeeping_http_refused_connections_total',
        'What was refused on its connection without becoming a request, by status.',
        [...this.#refusals].map(([status, count]) => [{ status: `${status}` }, count]),
      ),
    ];
  }

  #begin(route: string | undefined, method: string): Tally {
    if (!METHODS.has(method) && method !== OTHER) return this.#tally(route, OTHER);
    const tally = new Tally(route ?? OTHER, method);
    const methods = this.#tallies.get(route) ?? new Map<string, Tally>();
    this.#tallies.set(route, methods.set(method, tally));
    return tally;
  }

  #tally(route: string | undefined, method: string): Tally {
    return this.#tallies.get(route)?.get(method) ?? this.#begin(route, method);
  }
}
