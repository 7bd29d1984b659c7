import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { LogStream } from '../log/log.ts';
import { LOG_LEVELS, type LogLevel } from '../log/log-level.ts';
import type { OutcomeName } from './outcomes.ts';

/** Counts responses. */
export interface RequestObserver {
  /** Called when a response has been sent. @param route such as `/book/:id`; undefined for an unknown path */
  responded(route: string | undefined, method: string, status: number, ms: number): void;
  /** Called for every response on a connection whose data did not become a request. */
  rejected(status: number): void;
}

export interface RequestLogOptions {
  readonly logStream: LogStream;
  readonly logLevel: LogLevel;
  /** Routes whose responses with 200 are not logged, as they may be requested every second. */
  readonly probes: readonly string[];
  readonly describeError: (error: unknown) => ErrorDescription;
  readonly observer?: RequestObserver | undefined;
}

/** An error of a handler: the outcome of its request, and the fields of its log line. */
export interface ErrorDescription {
  readonly outcome: OutcomeName;
  /** As that of `HttpResult`. */
  readonly detail?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** By default `error`. */
  readonly level?: Level;
  readonly fields: object;
}

/**
 * Writes one line for each response, except to successful probes; the logger would take several times as long. Only the
 * method and the id come from the client, and the parser and request-id.ts have validated them.
 */
export class RequestLog extends LogController {
  readonly #options: RequestLogOptions;
  readonly #level: number;

  constructor(options: RequestLogOptions) {
    super();
    this.#options = options;
    this.#level = LOG_LEVELS[options.logLevel];
  }

  override incomingRequest(): void {}

  override routeNotFound(): void {}

  /** Fastify calls it behind the response, after its hooks. A 5xx has the level `error`, unless {@link annotate} has set another. */
  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const { statusCode } = reply;
    const annotation = statusCode < 400 ? undefined : annotations.get(request);
    const level = annotation?.level ?? (statusCode >= 500 ? 'error' : 'info');
    this.#write(level, request, reply, annotation?.fields);
  }

  override streamError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    const isDisconnect = 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
    if (isDisconnect)
      this.#write('info', request, reply, { msg: 'the client did not read the whole response' });
    else {
      const { fields } = this.#options.describeError(error);
      this.#write('error', request, reply, { ...fields, msg: 'the response was truncated' });
    }
  }

  rejected(id: string, status: number): void {
    this.#options.observer?.rejected(status);
    if (LOG_LEVELS.info < this.#level) return;
    this.#options.logStream.write(
      `{"level":${LOG_LEVELS.info},"time":${Date.now()},"id":"${id}","method":null,"route":null,"status":${status},"msg":"rejected before routing"}\n`,
    );
  }

  #write(
    level: Level,
    request: FastifyRequest,
    { statusCode, elapsedTime }: FastifyReply,
    more?: object,
  ): void {
    const { id, method } = request;
    const { url } = request.routeOptions;
    this.#options.observer?.responded(url, method, statusCode, elapsedTime);
    if (LOG_LEVELS[level] < this.#level) return;
    if (statusCode === 200 && url !== undefined && this.#options.probes.includes(url)) return;
    const scope = readOnlyRequests.has(request) ? ',"scope":"read"' : '';
    const route = url === undefined ? 'null' : `"${url}"`;
    const ending = more === undefined ? '' : `,${JSON.stringify(more).slice(1, -1)}`;
    this.#options.logStream.write(
      `{"level":${LOG_LEVELS[level]},"time":${Date.now()},"id":"${id}","method":"${method}","route":${route},"status":${statusCode},"ms":${elapsedTime.toFixed(3)}${scope}${ending}}\n`,
    );
  }
}

/** Sets the level of the log line of a failed request, and adds fields to it. */
export function annotate(request: FastifyRequest, level: Level, fields: object): void {
  annotations.set(request, { level, fields });
}

/** Adds the scope of a read-only token to the log line of its request. */
export function markReadOnly(request: FastifyRequest): void {
  readOnlyRequests.add(request);
}

const readOnlyRequests = new WeakSet<FastifyRequest>();

type Level = Exclude<LogLevel, 'silent'>;

/** A map, as failed requests are few. */
const annotations = new WeakMap<FastifyRequest, { readonly level: Level; readonly fields: object }>();
