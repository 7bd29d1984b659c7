import type { FastifyInstance } from 'fastify';
import { send } from '../http/answer.ts';
import type { RequestObserver } from '../http/request-log.ts';
import { operations } from './description/operations.ts';

/** Where Prometheus asks. */
export const METRICS_PATH = '/metrics';

/** What is measured, and shown at {@link METRICS_PATH}. */
export interface ServedMetrics {
  /** Is told of every request. */
  readonly requests: RequestObserver;
  /** The media type of the text. */
  readonly type: string;
  /** All metrics as text; undefined when they cannot be had in time. */
  expose(): Promise<string | undefined>;
}

/** Serves metrics to everybody, and without an envelope: whoever should not see them is kept away by the proxy. */
export function serveMetrics(app: FastifyInstance, metrics: ServedMetrics): void {
  app.get(METRICS_PATH, { schema: operations.readMetrics }, async (_request, reply) => {
    const text = await metrics.expose();
    if (text === undefined) return send(reply, { outcome: 'serviceUnavailable' });
    return reply.headers(HEADERS).type(metrics.type).send(text);
  });
}

const HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
