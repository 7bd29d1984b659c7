import type { FastifyInstance } from 'fastify';
import type { RequestObserver } from '../http/request-log.ts';
import { send } from '../http/response.ts';
import { operations } from './description/operations.ts';

/** The path that Prometheus scrapes. */
export const METRICS_PATH = '/metrics';

/** The metrics that are served at {@link METRICS_PATH}. */
export interface ServedMetrics {
  /** Counts requests. */
  readonly requests: RequestObserver;
  /** The media type of the text. */
  readonly type: string;
  /** All metrics as text; undefined when those of other processes do not come in time. */
  expose(): Promise<string | undefined>;
}

/** Serves metrics without a token and without the envelope; a proxy can restrict access. */
export function serveMetrics(app: FastifyInstance, metrics: ServedMetrics): void {
  app.get(METRICS_PATH, { schema: operations.readMetrics }, async (_request, reply) => {
    const text = await metrics.expose();
    if (text === undefined) return send(reply, { outcome: 'serviceUnavailable' });
    return reply.headers(HEADERS).type(metrics.type).send(text);
  });
}

const HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
