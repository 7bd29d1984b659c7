import type { FastifyInstance } from 'fastify';
import { send } from '../http/answer.ts';
import { operations } from './description/operations.ts';

/** Where Prometheus asks. */
export const METRICS_PATH = '/metrics';

/** Who wants to know what comes of requests. */
export interface RequestObserver {
  /**
   * Told of every request when its answer has left.
   *
   * @param route as the router writes it; undefined for a path that is no route
   * @param ms how long it took
   */
  answered(route: string | undefined, method: string, status: number, ms: number): void;
  /** Told of what was refused on its connection without becoming a request. */
  refused(status: number): void;
}

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
