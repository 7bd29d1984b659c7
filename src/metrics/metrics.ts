import { EXPOSITION_TYPE, exposition } from './exposition.ts';
import { counter, type Family, gauge, type Labels } from './family.ts';
import { RequestMetrics } from './requests.ts';
import { RuntimeMetrics } from './runtime.ts';
import { StoreMetrics } from './store.ts';

/** What is looked at when somebody asks, besides what is counted. */
export interface Surface {
  /** Connections with a request under way, and those without. */
  readonly connections: { readonly active: number; readonly idle: number };
  /** The bytes of long bodies, and of answers that their clients have not read yet. */
  readonly heldBytes: { readonly bodies: number; readonly answers: number };
  /** Searches under way. */
  readonly searches: number;
  /** How many logins there were, by what came of them. */
  readonly logins: Readonly<Record<'succeeded' | 'failed' | 'throttled', number>>;
  /** How many tokens had been verified before, and how many had not. */
  readonly tokens: { readonly hits: number; readonly misses: number };
}

/**
 * Tells the processes that serve beside this one what it measures.
 *
 * @returns asks for what all of them measure; undefined when that cannot be had in time
 */
export type ShareMetrics = (
  families: () => readonly Family[],
) => () => Promise<readonly Family[] | undefined>;

/** All that a service measures. */
export class Metrics {
  /** Is told of requests. */
  readonly requests = new RequestMetrics();
  /** Is told of what the store does. */
  readonly store: StoreMetrics;
  /** The media type of {@link expose}. */
  readonly type = EXPOSITION_TYPE;
  readonly #build: Labels;
  readonly #gather: () => Promise<readonly Family[] | undefined>;
  #runtime: RuntimeMetrics | undefined;
  #look: (() => Surface) | undefined;

  /**
   * @param version of the service
   * @param engine that keeps its books
   * @param share where other processes serve beside this one
   */
  constructor(version: string, engine: string, share: ShareMetrics = alone) {
    this.#build = { version, engine, node: process.versions.node };
    this.store = new StoreMetrics(engine);
    this.#gather = share(() => this.#families());
  }

  /** Measures this process, too, until it is closed. @param look what the service looks like at present */
  begin(look: () => Surface): void {
    this.#look = look;
    this.#runtime = new RuntimeMetrics();
  }

  close(): void {
    this.#runtime?.close();
  }

  /** All metrics as text; undefined when those of other processes cannot be had in time. */
  async expose(): Promise<string | undefined> {
    const families = await this.#gather();
    return families && exposition(families);
  }

  #families(): Family[] {
    return [
      ...this.requests.families(),
      ...(this.#look ? surfaceFamilies(this.#look()) : []),
      ...this.store.families(),
      ...(this.#runtime?.families() ?? []),
      gauge('bookkeeping_processes', 'Processes that serve.', [[{}, 1]]),
      {
        ...gauge('bookkeeping_build_info', 'Always 1; the labels say what is running.', [[this.#build, 1]]),
        together: 'max',
      },
    ];
  }
}

const alone: ShareMetrics = (families) => async () => families();

function surfaceFamilies({ connections, heldBytes, searches, logins, tokens }: Surface): Family[] {
  return [
    gauge('bookkeeping_http_connections', 'Open connections: active ones have a request under way.', [
      [{ state: 'active' }, connections.active],
      [{ state: 'idle' }, connections.idle],
    ]),
    gauge('bookkeeping_http_held_bytes', 'What long bodies, and answers that clients have not read, hold.', [
      [{ kind: 'bodies' }, heldBytes.bodies],
      [{ kind: 'answers' }, heldBytes.answers],
    ]),
    gauge('bookkeeping_searches_under_way', 'Searches that are not answered yet.', [[{}, searches]]),
    counter(
      'bookkeeping_logins_total',
      'Requests for a token, by what came of them.',
      Object.entries(logins).map(([result, count]) => [{ result }, count]),
    ),
    counter('bookkeeping_token_cache_total', 'Checks of tokens: hits had been verified before.', [
      [{ result: 'hit' }, tokens.hits],
      [{ result: 'miss' }, tokens.misses],
    ]),
  ];
}
