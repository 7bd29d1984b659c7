import type { Envelope } from '../src/book/contract.ts';
import { type ErrorResponse, NoResponseError } from './errors.ts';

/** A request to the API, without its token. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the URL of the service, without a leading slash, with the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string;
  /** Whether a second attempt has no further effect, whatever other clients have done in the meantime. */
  readonly isRetryable: boolean;
  readonly isWrite: boolean;
}

/** A request that only reads. */
export function reading(path: string, headers: Readonly<Record<string, string>> = {}): ApiRequest {
  return { method: 'GET', path, headers, isRetryable: true, isWrite: false };
}

/**
 * A request that writes; its content is sent as JSON. Only a key or a precondition makes it retryable: after an attempt without a
 * response, a second one could undo a later change of another client.
 */
export function writing(
  method: ApiRequest['method'],
  path: string,
  headers: Readonly<Record<string, string>> = {},
  content?: unknown,
): ApiRequest {
  const body = content === undefined ? {} : { body: JSON.stringify(content) };
  const isRetryable = 'Idempotency-Key' in headers || 'If-Match' in headers;
  return { method, path, headers, ...body, isRetryable, isWrite: true };
}

/** A response of the service, of any status. */
export interface ApiResponse extends ErrorResponse {
  readonly data: unknown;
  readonly headers: Headers;
}

/** The default timeout of a response. */
export const TIMEOUT_MS = 30_000;

/** Sends a request. @throws {NoResponseError} @throws the reason of the signal when it is aborted */
export type Send = (request: ApiRequest, signal?: AbortSignal) => Promise<ApiResponse>;

/** @returns a function that sends a request once, to a URL that ends in a slash, with a timeout for a whole response */
export function createSender(baseUrl: string, timeoutMs: number): Send {
  return async (request, signal) => {
    signal?.throwIfAborted();
    const { method, path, body, isWrite } = request;
    const headers = new Headers(request.headers);
    if (body !== undefined) headers.set('Content-Type', 'application/json');
    const fail = (reason: NoResponseError['reason'], cause?: unknown) =>
      new NoResponseError(describeRequest(request), reason, isWrite, cause);
    const abortion = new AbortController();
    const abort = () => abortion.abort();
    signal?.addEventListener('abort', abort, { once: true });
    const timer = setTimeout(abort, Math.min(timeoutMs, TIMER_MS_MAX));
    try {
      const response = await fetch(baseUrl + path, {
        method,
        headers,
        ...(body !== undefined && { body }),
        // The service has no redirects; another server must get neither password nor token.
        redirect: 'error',
        signal: abortion.signal,
      });
      const result = readResponse(request, response, await response.text());
      if (!result) throw fail('unreadable');
      return result;
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof NoResponseError
        ? error
        : fail(abortion.signal.aborted ? 'timeout' : 'network', error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  };
}

/** A request in the text of errors, such as `PUT /book/7`. */
export function describeRequest({ method, path }: ApiRequest): string {
  return `${method} /${path}`;
}

/** The longest delay of a timer. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** @returns undefined for a success that is not from the service; errors may be from a proxy */
function readResponse(
  { method, path, isWrite }: ApiRequest,
  { status, headers }: Response,
  body: string,
): ApiResponse | undefined {
  const envelope = readEnvelope(body, status);
  if (!envelope && status < 300) return undefined;
  return {
    method,
    path: `/${path}`,
    status,
    message: envelope?.message ?? `HTTP ${status}`,
    data: envelope?.data,
    headers,
    mayHaveHappened: isWrite && status >= 500,
    retryAfterSeconds: readRetryAfter(headers),
    detail: headers.get('Error-Detail') ?? undefined,
    invalidIndex: readNumber(headers.get('Invalid-Index')),
    requestId: headers.get('X-Request-Id') ?? undefined,
  };
}

function readEnvelope(body: string, status: number): Envelope<unknown> | undefined {
  try {
    const envelope = JSON.parse(body) as Envelope<unknown> | null;
    return envelope?.status === status && typeof envelope.message === 'string' ? envelope : undefined;
  } catch {
    return undefined;
  }
}

/** Reads seconds, or a date (RFC 9110, section 10.2.3): the time until then is by the clock of the server, if it sends its `Date`. */
function readRetryAfter(headers: Headers): number | undefined {
  const text = headers.get('Retry-After');
  const now = Date.parse(headers.get('Date') ?? '') || Date.now();
  const seconds = readNumber(text) ?? (Date.parse(text ?? '') - now) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
}

/** The value of a header that is a whole number, such as `Retry-After`; undefined for a date or other text. */
export function readNumber(text: string | null): number | undefined {
  return text !== null && /^[0-9]+$/.test(text) ? Number(text) : undefined;
}

/** Whether a status is a temporary error of the service, or of a proxy in front of it. */
export function isTemporary(status: number): boolean {
  return [429, 502, 503, 504].includes(status);
}
