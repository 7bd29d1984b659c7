import { Counter, Histogram, type Registry } from '@prometheus-io/client';

/** Upper bounds in seconds. */
const DURATION_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** The label of all other methods, and of unknown paths: it limits the number of series. */
const OTHER = 'other';

/** Exposed as 0 from the start: Prometheus does not see the first one of a new series as an increase. */
const FAILURES = [500, 503];
/** Likewise for malformed, slow or long headers, and for connections beyond the limit. */
const REJECTIONS = [400, 408, 431, 503];

export class RequestMetrics {
  readonly #responses: Counter<'route' | 'method' | 'status'>;
  readonly #durations: Histogram<'route' | 'method'>;
  readonly #rejections: Counter<'status'>;
  readonly #routes = new Set<string>();

  constructor(registry: Registry) {
    const registers = [registry];
    this.#responses = new Counter({
      name: 'bookkeeping_http_requests_total',
      help: 'Completed responses, by route, method and status.',
      labelNames: ['route', 'method', 'status'],
      registers,
    });
    this.#durations = new Histogram({
      name: 'bookkeeping_http_request_duration_seconds',
      help: 'Time from the headers of a request to the end of its response.',
      labelNames: ['route', 'method'],
      buckets: DURATION_BOUNDS,
      registers,
    });
    this.#rejections = new Counter({
      name: 'bookkeeping_http_rejected_connections_total',
      help: 'Rejections on a connection before there is a request, by status.',
      labelNames: ['status'],
      registers,
    });
    for (const status of REJECTIONS) this.#rejections.inc({ status }, 0);
  }

  /** @param route the pattern of the router; undefined for an unknown path */
  responded(route: string | undefined, anyMethod: string, status: number, ms: number): void {
    const labels = { route: route ?? OTHER, method: METHODS.has(anyMethod) ? anyMethod : OTHER };
    this.#durations.observe(labels, ms / 1_000);
    this.#responses.inc({ ...labels, status });
    const name = `${labels.method} ${labels.route}`;
    if (this.#routes.has(name)) return;
    this.#routes.add(name);
    for (const failure of FAILURES) this.#responses.inc({ ...labels, status: failure }, 0);
  }

  /** Counts a rejection on a connection, before there is a request. */
  rejected(status: number): void {
    this.#rejections.inc({ status });
  }
}
