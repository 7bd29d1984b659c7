import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BookChange } from '../client/index.ts';
import { CommandError } from '../src/cli/exits.ts';
import { readText } from '../src/cli/files.ts';

const TIMEOUT_MS = 20_000;
/** The longest wait before the second attempt; it doubles for each further one, up to a limit. */
const BACKOFF_MS = 1_000;
const BACKOFF_MS_MAX = 300_000;
/** How much of the body of a response is read, and for how long. */
const DRAINED_BYTES_MAX = 64 * 1_024;
const DRAIN_MS_MAX = 1_000;

/** Delivers changes to a URL (standardwebhooks.com). */
export class WebHook {
  readonly #url: string;
  readonly #key: Buffer;

  /** @throws CommandError when the file has no secret */
  constructor(url: string, secretFile: string) {
    this.#url = url;
    this.#key = readSecret(secretFile);
  }

  /** Resolves when the receiver has responded with 2xx. @throws CommandError when it responds with 410 */
  async deliver({ cursor, type, at, book }: BookChange, signal: AbortSignal): Promise<void> {
    const body = JSON.stringify({ type: `book.${type}`, timestamp: at, data: book });
    for (let attempt = 0; ; attempt++) {
      const problem = await this.#post(cursor, body, signal);
      if (problem === undefined) return;
      if (problem === 410) throw new CommandError('the web hook wants no further changes (410)');
      console.error(`bookkeeping: the web hook did not accept ${cursor}: ${problem}`);
      await sleep(Math.random() * Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** attempt), undefined, { signal });
    }
  }

  /** @returns undefined for 2xx, else the status or the reason */
  async #post(id: string, body: string, signal: AbortSignal): Promise<number | string | undefined> {
    const timestamp = `${Math.floor(Date.now() / 1_000)}`;
    const signature = createHmac('sha256', this.#key).update(`${id}.${timestamp}.${body}`).digest('base64');
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'webhook-id': id,
          'webhook-timestamp': timestamp,
          'webhook-signature': `v1,${signature}`,
        },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      await drain(response);
      return response.ok ? undefined : response.status;
    } catch (error) {
      signal.throwIfAborted();
      return error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'no response';
    }
  }
}

/**
 * Reads the body of a response, which is of no use. Cancelled at once, the connection would be reset under simple receivers such as
 * Python's `http.server`, and the next change would wait a second for them. The status counts, whatever becomes of the body: what was
 * accepted is not delivered again.
 */
async function drain({ body }: Response): Promise<void> {
  if (!body) return;
  const reader = body.getReader();
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), DRAIN_MS_MAX);
  try {
    for (let length = 0; length <= DRAINED_BYTES_MAX; ) {
      const { done, value } = await reader.read();
      if (done) return;
      length += value.length;
    }
    await reader.cancel();
  } catch {
    // The body is not needed.
  } finally {
    clearTimeout(timer);
  }
}

function readSecret(path: string): Buffer {
  const [, encoded = ''] = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(readText(path)) ?? [];
  const key = Buffer.from(encoded, 'base64');
  if (key.length < 24 || key.length > 64)
    throw new CommandError(`${path} must have whsec_ and 24 to 64 bytes in base64`);
  return key;
}
