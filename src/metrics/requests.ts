import { Counter, type Registry } from '@prometheus-io/client';
import { SeriesHistogram } from './series-histogram.ts';

/** Upper bounds in seconds. */
const DURATION_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** The label of all other methods, and of unknown paths: it limits the number of series. */
const OTHER = 'other';

/** Exposed as 0 from the start: Prometheus does not see the first one of a new series as an increase. */
const FAILURES = [500, 503];
/** Likewise for malformed, slow or long headers, and for connections beyond the limit. */
const REJECTIONS = [400, 408, 431, 503];

/** The responses of a route and a method. */
interface Responses {
  /** Their number, by status. */
  readonly counts: Map<number, number>;
  readonly observeSeconds: (seconds: number) => void;
}

/** Counts responses and rejections, and measures the time of responses. */
export class RequestMetrics {
  readonly #durations: SeriesHistogram;
  readonly #rejections: Counter<'status'>;
  /** By route and method. The counter of the library, which makes a key of these and the status, would cost 1 µs each. */
  readonly #responses = new Map<string, Map<string, Responses>>();

  constructor(registry: Registry) {
    const registers = [registry];
    const responses = this.#responses;
    new Counter({
      name: 'bookkeeping_http_requests_total',
      help: 'Completed responses, by route, method and status.',
      labelNames: ['route', 'method', 'status'],
      registers,
      collect() {
        this.reset();
        for (const [route, methods] of responses)
          for (const [method, { counts }] of methods)
            for (const [status, count] of counts) this.inc({ route, method, status }, count);
      },
    });
    this.#durations = new SeriesHistogram({
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
  responded(route = OTHER, anyMethod: string, status: number, ms: number): void {
    const method = METHODS.has(anyMethod) ? anyMethod : OTHER;
    const { counts, observeSeconds } =
      this.#responses.get(route)?.get(method) ?? this.#addRoute(route, method, status);
    counts.set(status, (counts.get(status) ?? 0) + 1);
    observeSeconds(ms / 1_000);
  }

  #addRoute(route: string, method: string, status: number): Responses {
    const responses: Responses = {
      counts: new Map([status, ...FAILURES].map((counted) => [counted, 0])),
      observeSeconds: this.#durations.series({ route, method }),
    };
    const methods = this.#responses.get(route) ?? new Map<string, Responses>();
    this.#responses.set(route, methods.set(method, responses));
    return responses;
  }

  /** Counts a rejection on a connection, before there is a request. */
  rejected(status: number): void {
    this.#rejections.inc({ status });
  }
}
