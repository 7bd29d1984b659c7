import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { StoreUnavailable } from '../book.ts';
import type { LogStream } from '../log.ts';
import { LOG_LEVELS, type LogLevel } from '../log-level.ts';
import { HEALTH_PATH, READINESS_PATH } from './health.ts';
import { METRICS_PATH, type RequestObserver } from './metrics.ts';

/** Who asks these may ask every second: that all is well is no line. */
const PROBES: ReadonlySet<string | undefined> = new Set([HEALTH_PATH, READINESS_PATH, METRICS_PATH]);

/**
 * One line a request, but for probes that find all well, when its answer has left: what was asked and what came of it,
 * never a header but the id, and never a body. The line is made here, for it is the same for all: by way of the logger
 * it costs several times as much, and nothing in it comes from the client but the method, which the parser knows, and
 * the id, which has been looked at.
 */
export class RequestLog extends LogController {
  readonly #stream: LogStream;
  readonly #level: number;
  readonly #observer: RequestObserver | undefined;

  /** @param level the least grave of the lines that are written */
  constructor(stream: LogStream, level: LogLevel, observer?: RequestObserver) {
    super();
    this.#stream = stream;
    this.#level = LOG_LEVELS[level];
    this.#observer = observer;
  }

  override incomingRequest(): void {}

  override routeNotFound(): void {}

  /** A 5xx is for the operator to look into, and so may be somebody who keeps guessing passwords. */
  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const { statusCode } = reply;
    if (statusCode >= 500) this.#write('error', request, reply, failures.get(request));
    else this.#write(statusCode === 429 ? 'warn' : 'info', request, reply);
  }

  override streamError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    const isClientGone = 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
    if (isClientGone)
      this.#write('info', request, reply, { msg: 'the client did not take all of the answer' });
    else this.#write('error', request, reply, { ...causeOf(error), msg: 'the answer was cut off' });
  }

  /** What was refused on its socket, before there was a request: nothing is known of it but what was answered. */
  refused(id: string, status: number): void {
    this.#observer?.refused(status);
    if (LOG_LEVELS.info < this.#level) return;
    this.#stream.write(
      `{"level":${LOG_LEVELS.info},"time":${Date.now()},"id":"${id}","method":null,"route":null,"status":${status},"msg":"refused unread"}\n`,
    );
  }

  #write(
    level: Exclude<LogLevel, 'silent'>,
    { id, method, routeOptions }: FastifyRequest,
    { statusCode, elapsedTime }: FastifyReply,
    more?: object,
  ): void {
    const { url } = routeOptions;
    this.#observer?.answered(url, method, statusCode, elapsedTime);
    if (LOG_LEVELS[level] < this.#level) return;
    if (statusCode === 200 && PROBES.has(url)) return;
    const route = url === undefined ? 'null' : `"${url}"`;
    const ending = more === undefined ? '' : `,${JSON.stringify(more).slice(1, -1)}`;
    this.#stream.write(
      `{"level":${LOG_LEVELS[level]},"time":${Date.now()},"id":"${id}","method":"${method}","route":${route},"status":${statusCode},"ms":${elapsedTime.toFixed(3)}${ending}}\n`,
    );
  }
}

/** Has the line of a request that is answered with a 5xx tell why. */
export function noteFailure(request: FastifyRequest, error: unknown): void {
  const msg = error instanceof StoreUnavailable ? 'the store is unavailable' : 'a defect';
  failures.set(request, { ...causeOf(error), msg });
}

/** Failures are few, so they are kept beside the requests. */
const failures = new WeakMap<FastifyRequest, object>();

/**
 * A store that is away is a fact of operation: its reason is enough. Anything else is a defect, with its stack. What
 * else an error carries may be from a body or a driver.
 */
function causeOf(error: unknown): object {
  if (error instanceof StoreUnavailable) return { reason: error.reason };
  if (!(error instanceof Error)) return { err: { type: typeof error, message: String(error), stack: '' } };
  const { name, message, stack, code } = error as NodeJS.ErrnoException;
  return { err: { type: name, message, stack, ...(code !== undefined && { code }) } };
}
