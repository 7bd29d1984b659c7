import type { Book } from '../../src/book/book.ts';
import { type BookChange, createClient, RefusedError } from '../../src/client/index.ts';

/** A way to follow the changes. */
export const KINDS = ['client', 'poll', 'stream'] as const;

type Kind = (typeof KINDS)[number];

/** Follows the changes from the first one on, is interrupted now and then, and keeps a replica of the table. */
export class Follower {
  readonly replica = new Map<number, Book>();
  readonly #kind: Kind;
  readonly #service: { readonly url: string; readonly token: string };
  readonly #seen = new Set<string>();
  #cursor: string | undefined;
  #interruption = new AbortController();
  #isEnded = false;
  #running: Promise<void> | undefined;

  constructor(kind: Kind, service: { readonly url: string; readonly token: string }) {
    this.#kind = kind;
    this.#service = service;
  }

  get changes(): number {
    return this.#seen.size;
  }

  /** Resolves at its end; rejects at the first violation. */
  run(): Promise<void> {
    this.#running ??= this.#follow();
    return this.#running;
  }

  /** Breaks its connection; it resumes from its last cursor. */
  interrupt(): void {
    this.#interruption.abort();
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    this.interrupt();
    await this.#running;
  }

  async #follow(): Promise<void> {
    while (!this.#isEnded) {
      this.#interruption = new AbortController();
      try {
        for await (const change of this.#changes(this.#interruption.signal)) this.#apply(change);
      } catch (error) {
        if (error instanceof Violation || error instanceof RefusedError) throw error;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  /** Each change has to fit to the replica: none is missing, none comes twice, and those of a book are in order. */
  #apply({ cursor, type, book }: BookChange): void {
    const fail = (problem: string) => {
      throw new Violation(`${this.#kind}: ${type} ${JSON.stringify(book)} at ${cursor}: ${problem}`);
    };
    if (this.#seen.has(cursor)) fail('seen twice');
    const known = this.replica.get(book.id);
    if (type === 'created' && known) fail('exists');
    if (type !== 'created' && !known) fail('does not exist');
    if (type === 'deleted' && JSON.stringify(known) !== JSON.stringify(book))
      fail(`was ${JSON.stringify(known)}`);
    if (type === 'deleted') this.replica.delete(book.id);
    else this.replica.set(book.id, book);
    this.#seen.add(cursor);
    this.#cursor = cursor;
  }

  #changes(signal: AbortSignal): AsyncIterable<BookChange> {
    if (this.#kind === 'poll') return this.#poll(signal);
    if (this.#kind === 'stream') return this.#stream(signal);
    return createClient(this.#service).changes({ after: this.#cursor, signal });
  }

  async *#poll(signal: AbortSignal): AsyncGenerator<BookChange> {
    for (;;) {
      const response = await this.#request('limit=7&wait=5', 'application/json', signal);
      const { data } = (await response.json()) as { data: BookChange[] };
      yield* data;
    }
  }

  async *#stream(signal: AbortSignal): AsyncGenerator<BookChange> {
    const { body } = await this.#request('limit=50', 'text/event-stream', signal);
    if (!body) return;
    let text = '';
    for await (const part of body.pipeThrough(new TextDecoderStream())) {
      const events = (text + part).split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (data !== undefined) yield JSON.parse(data) as BookChange;
      }
    }
  }

  async #request(query: string, accept: string, signal: AbortSignal): Promise<Response> {
    const { url, token } = this.#service;
    const after = this.#cursor === undefined ? '' : `&after=${this.#cursor}`;
    const response = await fetch(`${url}/changes?${query}${after}`, {
      headers: { Authorization: token, Accept: accept },
      signal,
    });
    if (response.status === 200) return response;
    const text = await response.text();
    if (response.status < 500) throw new Violation(`${this.#kind}: ${response.status} ${text}`);
    throw new Error(text);
  }
}

/** A follower has got what it must not get. */
class Violation extends Error {}
