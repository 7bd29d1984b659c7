import { counter, exposition, type Family, gauge, type Labels, renamed } from './family.ts';
import { RequestMetrics } from './requests.ts';
import { RuntimeMetrics } from './runtime.ts';
import { StoreMetrics } from './store.ts';

/** The state of the server at the time of a scrape. */
interface ServerSnapshot {
  /** Active connections have a pending response. */
  readonly connections: { readonly active: number; readonly idle: number };
  /** The memory of long request bodies, and of responses that clients have not read yet. */
  readonly heldBytes: { readonly bodies: number; readonly responses: number };
  /** The searches that are running or being sent. */
  readonly searches?: number;
  /** Absent when the history is not recorded. */
  readonly followers?: { readonly count: number; readonly behind: number };
  readonly logins: Readonly<Record<'succeeded' | 'failed' | 'throttled', number>>;
  readonly tokens: { readonly hits: number; readonly misses: number };
}

/** Shares the metrics of this worker. @returns a function that collects those of all workers; undefined after a timeout */
export type ShareMetrics = (
  families: () => readonly Family[],
) => () => Promise<readonly Family[] | undefined>;

export class Metrics {
  readonly requests = new RequestMetrics();
  readonly store: StoreMetrics;
  /** The media type of {@link expose}. */
  readonly type = 'text/plain; version=0.0.4; charset=utf-8';
  readonly #build: Labels;
  readonly #collect: () => Promise<readonly Family[] | undefined>;
  #runtime: RuntimeMetrics | undefined;
  #getSnapshot: (() => ServerSnapshot) | undefined;

  constructor(version: string, engine: string, share: ShareMetrics = (families) => async () => families()) {
    this.#build = { version, engine, node: process.versions.node };
    this.store = new StoreMetrics(engine);
    this.#collect = share(() => this.#families());
  }

  start(getSnapshot: () => ServerSnapshot): void {
    this.#getSnapshot = getSnapshot;
    this.#runtime = new RuntimeMetrics();
  }

  close(): void {
    this.#runtime?.close();
  }

  /** Renders all metrics; undefined when other workers do not reply in time. */
  async expose(): Promise<string | undefined> {
    const families = await this.#collect();
    return families && exposition(families);
  }

  #families(): Family[] {
    const build = [[this.#build, 1]] as const;
    return withFormerNames([
      ...this.requests.families(),
      ...(this.#getSnapshot ? snapshotFamilies(this.#getSnapshot()) : []),
      ...this.store.families(),
      ...(this.#runtime?.families() ?? []),
      gauge('bookkeeping_processes', 'Number of processes that serve.', 1),
      gauge('bookkeeping_build_info', 'Always 1; the labels are the versions and the engine.', build, 'max'),
    ]);
  }
}

/** The names of version 0.1, by the names that have replaced them; version 0.3 drops them. */
export const FORMER_NAMES = new Map([
  ['bookkeeping_searches', 'bookkeeping_searches_under_way'],
  ['bookkeeping_http_rejected_connections_total', 'bookkeeping_http_refused_connections_total'],
]);

function withFormerNames(families: readonly Family[]): Family[] {
  const former = families.flatMap((family) => {
    const name = FORMER_NAMES.get(family.name);
    return name === undefined ? [] : [renamed(family, name)];
  });
  return [...families, ...former];
}

function snapshotFamilies(server: ServerSnapshot): Family[] {
  const { connections, heldBytes, searches, followers, logins, tokens } = server;
  return [
    gauge('bookkeeping_http_connections', 'Open connections; active ones have a request in progress.', [
      [{ state: 'active' }, connections.active],
      [{ state: 'idle' }, connections.idle],
    ]),
    gauge('bookkeeping_http_held_bytes', 'Memory of long request bodies and of unread responses.', [
      [{ kind: 'bodies' }, heldBytes.bodies],
      [{ kind: 'responses' }, heldBytes.responses],
    ]),
    gauge('bookkeeping_searches', 'Searches in progress.', searches ?? []),
    gauge('bookkeeping_followers', 'Requests that follow the changes.', followers?.count ?? []),
    gauge(
      'bookkeeping_changes_behind',
      'Changes that the slowest follower has not got yet.',
      followers?.behind ?? [],
      'max',
    ),
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
