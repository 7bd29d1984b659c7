import type { Envelope } from '../book/contract.ts';
import { NoAnswerError, type Refusal } from './client-errors.ts';

/** A call of the API: what is sent, the token aside, and what may be done with it. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path below the address of the service, with its query, without a slash in front. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, which stays as it is from attempt to attempt. */
  readonly body?: string;
  /** Whether sending it again does no more than sending it once. */
  readonly isRepeatable: boolean;
  /** Whether it changes books. */
  readonly isWrite: boolean;
}

/** What the service has answered, whatever the status. */
export interface Answer extends Refusal {
  /** The `data` of the envelope. */
  readonly data: unknown;
  readonly headers: Headers;
}

/**
 * Sends a call and waits for its answer.
 *
 * @throws {NoAnswerError}
 * @throws the reason of the signal when it is aborted
 */
export type Send = (call: Call, signal?: AbortSignal) => Promise<Answer>;

/**
 * Makes what sends a call once.
 *
 * @param address the address of the service, which ends in a slash
 * @param timeoutMs how long an answer may take, content included
 */
export function sendingTo(address: string, timeoutMs: number): Send {
  return async (call, signal) => {
    signal?.throwIfAborted();
    const { method, path, body, isWrite } = call;
    const headers = new Headers(call.headers);
    if (body !== undefined) headers.set('Content-Type', 'application/json');
    const fail = (reason: NoAnswerError['reason'], cause?: unknown) =>
      new NoAnswerError(nameOf(call), reason, isWrite, cause);
    const abortion = new AbortController();
    const abort = () => abortion.abort();
    signal?.addEventListener('abort', abort, { once: true });
    const timer = setTimeout(abort, Math.min(timeoutMs, TIMER_MS_MAX));
    try {
      const response = await fetch(address + path, {
        method,
        headers,
        ...(body !== undefined && { body }),
        // The service redirects nobody, and neither password nor token is for others.
        redirect: 'error',
        signal: abortion.signal,
      });
      const answer = readAnswer(response, await response.text(), isWrite);
      if (!answer) throw fail('unreadable');
      return answer;
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof NoAnswerError
        ? error
        : fail(abortion.signal.aborted ? 'timeout' : 'network', error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  };
}

/** A call as messages name it. */
export function nameOf({ method, path }: Call): string {
  return `${method} /${path}`;
}

/** What timers can count. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** @returns the answer, or undefined when neither the service nor a proxy in front of it has made it */
function readAnswer({ status, headers }: Response, content: string, isWrite: boolean): Answer | undefined {
  const envelope = readEnvelope(content, status);
  if (!envelope && status < 300) return undefined;
  return {
    status,
    message: envelope?.message ?? `HTTP ${status}`,
    data: envelope?.data,
    headers,
    isInDoubt: isWrite && status >= 500,
    retryAfterSeconds: readRetryAfter(headers.get('Retry-After')),
    invalidIndex: readNumber(headers.get('Invalid-Index')),
  };
}

function readEnvelope(content: string, status: number): Envelope<unknown> | undefined {
  try {
    const envelope = JSON.parse(content) as Partial<Envelope<unknown>> | null;
    const isEnvelope = envelope?.status === status && typeof envelope.message === 'string';
    return isEnvelope ? (envelope as Envelope<unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Seconds, or a date (RFC 9110, section 10.2.3). */
function readRetryAfter(text: string | null): number | undefined {
  const seconds = readNumber(text) ?? (Date.parse(text ?? '') - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
}

/** The whole number in a header, or undefined when there is none. */
export function readNumber(text: string | null): number | undefined {
  return text !== null && /^[0-9]+$/.test(text) ? Number(text) : undefined;
}
