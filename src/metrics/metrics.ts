import { EXPOSITION_TYPE, exposition } from './exposition.ts';
import { counter, type Family, gauge, type Labels } from './family.ts';
import { RequestMetrics } from './requests.ts';
import { RuntimeMetrics } from './runtime.ts';
import { StoreMetrics } from './store.ts';

/** The state of the server at the time of a scrape. */
export interface ServerSnapshot {
  /** Connections with a request in progress, and those without. */
  readonly connections: { readonly active: number; readonly idle: number };
  /** The bytes of long bodies, and of unread responses. */
  readonly heldBytes: { readonly bodies: number; readonly answers: number };
  /** Searches in progress. */
  readonly searches: number;
  /** Numbers of logins by result. */
  readonly logins: Readonly<Record<'succeeded' | 'failed' | 'throttled', number>>;
  /** Hits and misses of the cache of verified tokens. */
  readonly tokens: { readonly hits: number; readonly misses: number };
}

/**
 * Connects the metrics of this process with those of the other workers.
 *
 * @returns requests the metrics of all workers; undefined after a timeout
 */
export type ShareMetrics = (
  families: () => readonly Family[],
) => () => Promise<readonly Family[] | undefined>;

/** The metrics of the service. */
export class Metrics {
  readonly requests = new RequestMetrics();
  readonly store: StoreMetrics;
  /** The media type of {@link expose}. */
  readonly type = EXPOSITION_TYPE;
  readonly #build: Labels;
  readonly #gather: () => Promise<readonly Family[] | undefined>;
  #runtime: RuntimeMetrics | undefined;
  #getSnapshot: (() => ServerSnapshot) | undefined;

  /**
   * @param version of the service
   * @param engine of the store
   * @param share connects this process with other workers, if there are any
   */
  constructor(version: string, engine: string, share: ShareMetrics = withoutWorkers) {
    this.#build = { version, engine, node: process.versions.node };
    this.store = new StoreMetrics(engine);
    this.#gather = share(() => this.#families());
  }

  /** Starts measuring the process, until {@link close}. */
  start(getSnapshot: () => ServerSnapshot): void {
    this.#getSnapshot = getSnapshot;
    this.#runtime = new RuntimeMetrics();
  }

  close(): void {
    this.#runtime?.close();
  }

  /** The text format of all metrics; undefined when other workers do not reply in time. */
  async expose(): Promise<string | undefined> {
    const families = await this.#gather();
    return families && exposition(families);
  }

  #families(): Family[] {
    return [
      ...this.requests.families(),
      ...(this.#getSnapshot ? snapshotFamilies(this.#getSnapshot()) : []),
      ...this.store.families(),
      ...(this.#runtime?.families() ?? []),
      gauge('bookkeeping_processes', 'Number of processes that serve.', [[{}, 1]]),
      {
        ...gauge('bookkeeping_build_info', 'Always 1; the labels are the versions and the engine.', [
          [this.#build, 1],
        ]),
        aggregation: 'max',
      },
    ];
  }
}

const withoutWorkers: ShareMetrics = (families) => async () => families();

function snapshotFamilies({ connections, heldBytes, searches, logins, tokens }: ServerSnapshot): Family[] {
  return [
    gauge('bookkeeping_http_connections', 'Open connections; active ones have a request in progress.', [
      [{ state: 'active' }, connections.active],
      [{ state: 'idle' }, connections.idle],
    ]),
    gauge('bookkeeping_http_held_bytes', 'Memory of long request bodies and of unread responses.', [
      [{ kind: 'bodies' }, heldBytes.bodies],
      [{ kind: 'answers' }, heldBytes.answers],
    ]),
    gauge('bookkeeping_searches_under_way', 'Searches in progress.', [[{}, searches]]),
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
