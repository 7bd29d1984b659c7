import cors from '@fastify/cors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** A hook before those of {@link allowOrigins}, whose plugin would handle every OPTIONS as a preflight. */
export function expectPreflight(request: FastifyRequest, reply: FastifyReply, pass: () => void): void {
  const isPreflight = request.headers['access-control-request-method'] !== undefined;
  if (request.method === 'OPTIONS' && !isPreflight) reply.callNotFound();
  else pass();
}

/** Lets pages of these origins call the API from a browser (CORS_ORIGINS), preflights included. */
export function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  app.register(cors, {
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders:
      'ETag, Error-Detail, Invalid-Index, Link, Retry-After, WWW-Authenticate, X-Offset, X-Request-Id, X-Total-Count',
    maxAge: 600,
    strictPreflight: false,
  });
}
