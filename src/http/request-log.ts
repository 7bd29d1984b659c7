import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { LogStream } from '../log/log.ts';
import { LOG_LEVELS, type LogLevel } from '../log/log-level.ts';
import type { OutcomeName } from './outcomes.ts';

/** Counts responses. */
export interface RequestObserver {
  /**
   * Called for every request when its response has left.
   *
   * @param route as the router writes it; undefined for a path that is no route
   * @param ms from the request to the end of its response
   */
  answered(route: string | undefined, method: string, status: number, ms: number): void;
  /** Called for every response to a connection whose data did not become a request. */
  refused(status: number): void;
}

export interface RequestLogOptions {
  readonly logStream: LogStream;
  /** The minimum log level. */
  readonly logLevel: LogLevel;
  /** Routes whose 200 is not logged, as they may be requested every second. */
  readonly probes: readonly string[];
  readonly describeError: (error: unknown) => ErrorDescription;
  readonly observer?: RequestObserver | undefined;
}

/** An error of a handler: the outcome of its request, and the fields and the message of its log line. */
export interface ErrorDescription {
  readonly outcome: OutcomeName;
  readonly cause: object;
  readonly msg: string;
}

/**
 * Writes one line for each request when its response has left, except for successful probes. It has no headers but the
 * id, and no bodies. It is formatted here because the logger takes several times as long. Of its fields only the method
 * and the id come from the client; the parser and request-id.ts have validated them.
 */
export class RequestLog extends LogController {
  readonly #stream: LogStream;
  readonly #level: number;
  readonly #probes: ReadonlySet<string | undefined>;
  readonly #describeError: (error: unknown) => ErrorDescription;
  readonly #observer: RequestObserver | undefined;

  constructor({ logStream, logLevel, probes, describeError, observer }: RequestLogOptions) {
    super();
    this.#stream = logStream;
    this.#level = LOG_LEVELS[logLevel];
    this.#probes = new Set(probes);
    this.#describeError = describeError;
    this.#observer = observer;
  }

  override incomingRequest(): void {}

  override routeNotFound(): void {}

  /** A 5xx is an error for the operator, unless {@link note} was called. */
  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const { statusCode } = reply;
    const noted = statusCode < 400 ? undefined : notes.get(request);
    this.#write(noted?.level ?? (statusCode >= 500 ? 'error' : 'info'), request, reply, noted?.fields);
  }

  override streamError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    const isClientGone = 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
    if (isClientGone)
      this.#write('info', request, reply, { msg: 'the client did not take all of the answer' });
    else
      this.#write('error', request, reply, {
        ...this.#describeError(error).cause,
        msg: 'the answer was cut off',
      });
  }

  /** Logs a response to a connection whose data did not become a request. */
  rejected(id: string, status: number): void {
    this.#observer?.refused(status);
    if (LOG_LEVELS.info < this.#level) return;
    this.#stream.write(
      `{"level":${LOG_LEVELS.info},"time":${Date.now()},"id":"${id}","method":null,"route":null,"status":${status},"msg":"refused unread"}\n`,
    );
  }

  #write(
    level: Level,
    { id, method, routeOptions }: FastifyRequest,
    { statusCode, elapsedTime }: FastifyReply,
    more?: object,
  ): void {
    const { url } = routeOptions;
    this.#observer?.answered(url, method, statusCode, elapsedTime);
    if (LOG_LEVELS[level] < this.#level) return;
    if (statusCode === 200 && this.#probes.has(url)) return;
    const route = url === undefined ? 'null' : `"${url}"`;
    const ending = more === undefined ? '' : `,${JSON.stringify(more).slice(1, -1)}`;
    this.#stream.write(
      `{"level":${LOG_LEVELS[level]},"time":${Date.now()},"id":"${id}","method":"${method}","route":${route},"status":${statusCode},"ms":${elapsedTime.toFixed(3)}${ending}}\n`,
    );
  }
}

/** Adds an error to the log line of its request. */
export function noteError(request: FastifyRequest, { cause, msg }: ErrorDescription): void {
  note(request, 'error', { ...cause, msg });
}

/** Sets the level of the log line of a failed request, and adds fields to it. */
export function note(request: FastifyRequest, level: Level, fields: object): void {
  notes.set(request, { level, fields });
}

type Level = Exclude<LogLevel, 'silent'>;

/** A map, as failed requests are few. */
const notes = new WeakMap<FastifyRequest, { readonly level: Level; readonly fields: object }>();
