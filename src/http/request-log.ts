import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { StoreUnavailable } from '../book.ts';

/** One line a request, when its answer has left: what was asked and what came of it, never a header or a body. */
export class RequestLog extends LogController {
  override incomingRequest(): void {}

  override routeNotFound(): void {}

  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    request.log.info(summary(request, reply));
  }

  override streamError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    const isClientGone = 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
    if (isClientGone) request.log.info(summary(request, reply), 'the client did not take all of the answer');
    else logFailure(request.log, error, 'the answer was cut off');
  }
}

/** A store that is away is a fact of operation: its reason is enough. Anything else is a defect, with its stack. */
export function logFailure(log: FastifyBaseLogger, error: unknown, message: string): void {
  if (error instanceof StoreUnavailable) log.warn({ reason: error.reason }, message);
  else log.error({ err: error }, message);
}

function summary({ id, method, routeOptions }: FastifyRequest, reply: FastifyReply): object {
  const ms = Math.round(reply.elapsedTime * 1_000) / 1_000;
  return { id, method, route: routeOptions.url ?? null, status: reply.statusCode, ms };
}
