import { counter, type Family, type Labels } from './family.ts';
import { Histogram, histogram } from './histogram.ts';

/** Upper bounds in seconds. */
const DURATION_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** The label of all other methods, and of unknown paths: it limits the number of series. */
const OTHER = 'other';

/** Exposed as 0 from the start: Prometheus does not see the first one of a new series as an increase. */
const FAILURES: ReadonlySet<number> = new Set([500, 503]);
/** Likewise for malformed, slow or long headers, and for connections beyond the limit. */
const REJECTIONS = [400, 408, 431, 503];

class RouteCounts {
  readonly labels: Labels;
  /** By status code. */
  readonly statuses = new Float64Array(1_000);
  readonly durations = new Histogram(DURATION_BOUNDS);

  constructor(route: string, method: string) {
    this.labels = { route, method };
  }

  *byStatus(): Generator<[Labels, number]> {
    for (const [status, count] of this.statuses.entries()) {
      if (count > 0 || FAILURES.has(status)) yield [{ ...this.labels, status: `${status}` }, count];
    }
  }
}

/** Counts requests as plain numbers; a client library takes fifty times as long. */
export class RequestMetrics {
  readonly #counts = new Map<string | undefined, Map<string, RouteCounts>>();
  readonly #rejections = new Map(REJECTIONS.map((status) => [status, 0]));

  /** @param route the pattern of the router; undefined for an unknown path */
  responded(route: string | undefined, method: string, status: number, ms: number): void {
    const counts = this.#counts.get(route)?.get(method) ?? this.#getOrAdd(route, method);
    counts.statuses[status] = (counts.statuses[status] ?? 0) + 1;
    counts.durations.observe(ms / 1_000);
  }

  /** Counts a rejection on a connection, before there is a request. */
  rejected(status: number): void {
    this.#rejections.set(status, (this.#rejections.get(status) ?? 0) + 1);
  }

  families(): Family[] {
    const routes = [...this.#counts.values()].flatMap((methods) => [...methods.values()]);
    return [
      counter(
        'bookkeeping_http_requests_total',
        'Completed responses, by route, method and status.',
        routes.flatMap((counts) => [...counts.byStatus()]),
      ),
      histogram(
        'bookkeeping_http_request_duration_seconds',
        'Time from the headers of a request to the end of its response.',
        routes.map(({ labels, durations }) => [labels, durations]),
      ),
      counter(
        'bookkeeping_http_rejected_connections_total',
        'Rejections on a connection before there is a request, by status.',
        [...this.#rejections].map(([status, count]) => [{ status: `${status}` }, count]),
      ),
    ];
  }

  #getOrAdd(route: string | undefined, anyMethod: string): RouteCounts {
    const method = METHODS.has(anyMethod) ? anyMethod : OTHER;
    const methods = this.#counts.get(route) ?? new Map<string, RouteCounts>();
    const counts = methods.get(method) ?? new RouteCounts(route ?? OTHER, method);
    this.#counts.set(route, methods.set(method, counts));
    return counts;
  }
}
