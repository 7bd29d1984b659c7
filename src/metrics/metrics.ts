import { counter, exposition, type Family, gauge, type Labels } from './family.ts';
import { RequestMetrics } from './requests.ts';
import { RuntimeMetrics } from './runtime.ts';
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
interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly read: () => number;
}

export class Metrics {
  readonly requests = new RequestMetrics();
  readonly store: StoreMetrics;
  /** The media type of {@link expose}. */
  readonly type = 'text/plain; version=0.0.4; charset=utf-8';
  readonly #build: Labels;
  #runtime: RuntimeMetrics | undefined;
  #getSnapshot: (() => ServerSnapshot) | undefined;
  #gauges: readonly Gauge[] = [];

  constructor(version: string, engine: string) {
    this.#build = { version, engine, node: process.versions.node };
    this.store = new StoreMetrics(engine);
  }

  /** @param gauges further metrics */
  start(getSnapshot: () => ServerSnapshot, gauges: readonly Gauge[]): void {
    this.#getSnapshot = getSnapshot;
    this.#gauges = gauges;
    this.#runtime = new RuntimeMetrics();
  }

  close(): void {
    this.#runtime?.close();
  }

  /** Renders all metrics. */
  expose(): string {
    return exposition([
      ...this.requests.families(),
      ...(this.#getSnapshot ? snapshotFamilies(this.#getSnapshot()) : []),
      ...this.#gauges.map(({ name, help, read }) => gauge(name, help, read())),
      ...this.store.families(),
      ...(this.#runtime?.families() ?? []),
      gauge('bookkeeping_build_info', 'Always 1; the labels are the versions and the engine.', [
        [this.#build, 1],
      ]),
    ]);
  }
}

function snapshotFamilies(server: ServerSnapshot): Family[] {
  const { connections, heldBytes, logins, tokens } = server;
  return [
    gauge('bookkeeping_http_connections', 'Open connections; active ones have a request in progress.', [
      [{ state: 'active' }, connections.active],
      [{ state: 'idle' }, connections.idle],
    ]),
    gauge('bookkeeping_http_held_bytes', 'Memory of long request bodies and of unread responses.', [
      [{ kind: 'bodies' }, heldBytes.bodies],
      [{ kind: 'responses' }, heldBytes.responses],
    ]),
    counter(
      'bookkeeping_logins_total',
      'Requests for a token, by result.',
      Object.entries(logins).map(([result, count]) => [{ result }, count]),
    ),
    counter('bookkeeping_token_cache_total', 'Lookups in the cache of verified tokens, by result.', [
      [{ result: 'hit' }, tokens.hits],
      [{ result: 'miss' }, tokens.misses],
    ]),
  ];
}
