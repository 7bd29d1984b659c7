import { Counter, Gauge, Registry } from '@prometheus-io/client';
import { processMetrics } from './process.ts';
import { RequestMetrics } from './requests.ts';
import { StoreMetrics } from './store.ts';

/** The state of the server at the time of a scrape. */
interface ServerSnapshot {
  /** Active connections have a pending response. */
  readonly connections: { readonly active: number; readonly idle: number };
  /** The memory of long request bodies, and of responses that clients have not read yet. */
  readonly heldBytes: { readonly bodies: number; readonly responses: number };
  readonly logins: Readonly<Record<'succeeded' | 'failed' | 'throttled', number>>;
  readonly tokens: { readonly hits: number; readonly misses: number };
}

/** A metric that is read at each scrape. */
export interface GaugeSource {
  readonly name: string;
  readonly help: string;
  readonly read: () => number;
}

/** All metrics of a process, and the text of `/metrics`. */
export class Metrics {
  readonly #registry = new Registry();
  readonly requests = new RequestMetrics(this.#registry);
  readonly store: StoreMetrics;
  #process = new Registry();
  /** The media type of {@link expose}. */
  readonly type = this.#registry.contentType;

  constructor(version: string, engine: string) {
    this.store = new StoreMetrics(this.#registry, engine);
    new Gauge({
      name: 'bookkeeping_build_info',
      help: 'Always 1; the labels are the versions and the engine.',
      labelNames: ['version', 'engine', 'node'],
      registers: [this.#registry],
    }).set({ version, engine, node: process.versions.node }, 1);
  }

  /** @param gauges those of the server */
  start(getSnapshot: () => ServerSnapshot, gauges: readonly GaugeSource[]): void {
    this.#process = processMetrics();
    const registers = [this.#registry];
    new Gauge({
      name: 'bookkeeping_http_connections',
      help: 'Open connections; active ones have a request in progress.',
      labelNames: ['state'],
      registers,
      collect() {
        for (const [state, count] of Object.entries(getSnapshot().connections)) this.set({ state }, count);
      },
    });
    new Gauge({
      name: 'bookkeeping_http_held_bytes',
      help: 'Memory of long request bodies and of unread responses.',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const [kind, bytes] of Object.entries(getSnapshot().heldBytes)) this.set({ kind }, bytes);
      },
    });
    new Counter({
      name: 'bookkeeping_logins_total',
      help: 'Requests for a token, by result.',
      labelNames: ['result'],
      registers,
      collect() {
        this.reset();
        for (const [result, count] of Object.entries(getSnapshot().logins)) this.inc({ result }, count);
      },
    });
    new Counter({
      name: 'bookkeeping_token_cache_total',
      help: 'Lookups in the cache of verified tokens, by result.',
      labelNames: ['result'],
      registers,
      collect() {
        this.reset();
        const { hits, misses } = getSnapshot().tokens;
        this.inc({ result: 'hit' }, hits);
        this.inc({ result: 'miss' }, misses);
      },
    });
    for (const { name, help, read } of gauges) {
      const collect = function (this: Gauge) {
        this.set(read());
      };
      new Gauge({ name, help, registers, collect });
    }
  }

  /** Renders all metrics. */
  expose(): Promise<string> {
    return Registry.merge([this.#registry, this.#process]).metrics();
  }
}
