import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { StoreUnavailable } from '../book.ts';
import type { LogStream } from '../log.ts';
import { HEALTH_PATH, READINESS_PATH } from './health.ts';

/** Who asks these may ask every second: that all is well is no line. */
const PROBES: ReadonlySet<string | undefined> = new Set([HEALTH_PATH, READINESS_PATH]);

/** The level of what is as it should be, in the numbers of pino. */
const INFO = 30;

/**
 * One line a request, but for probes that find all well, when its answer has left: what was asked and what came of it, never a header or a body. The
 * line is made here, for it is the same for all: by way of the logger it costs several times as much, and nothing in it
 * comes from the client but the method, which the parser knows.
 */
export class RequestLog extends LogController {
  readonly #stream: LogStream;

  constructor(stream: LogStream) {
    super();
    this.#stream = stream;
  }

  override incomingRequest(): void {}

  override routeNotFound(): void {}

  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    this.#write(request, reply);
  }

  override streamError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    const isClientGone = 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
    if (isClientGone) this.#write(request, reply, 'the client did not take all of the answer');
    else logFailure(request.log, error, 'the answer was cut off');
  }

  #write(
    { id, method, routeOptions }: FastifyRequest,
    { statusCode, elapsedTime }: FastifyReply,
    msg?: string,
  ): void {
    const { url } = routeOptions;
    if (statusCode === 200 && PROBES.has(url)) return;
    const route = url === undefined ? 'null' : `"${url}"`;
    const ending = msg === undefined ? '' : `,"msg":"${msg}"`;
    this.#stream.write(
      `{"level":${INFO},"time":${Date.now()},"id":"${id}","method":"${method}","route":${route},"status":${statusCode},"ms":${elapsedTime.toFixed(3)}${ending}}\n`,
    );
  }
}

/** A store that is away is a fact of operation: its reason is enough. Anything else is a defect, with its stack. */
export function logFailure(log: FastifyBaseLogger, error: unknown, message: string): void {
  if (error instanceof StoreUnavailable) log.warn({ reason: error.reason }, message);
  else log.error({ err: error }, message);
}
