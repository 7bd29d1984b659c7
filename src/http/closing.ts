import type { FastifyInstance } from 'fastify';

/**
 * Ends connections with their next answer: all of them once the server is stopping, those whose client waits for a
 * 100 that never came, as nobody can tell whether its body follows, and those that asked for another protocol, as
 * the parser reads no further request from them.
 */
export function endConnections(app: FastifyInstance): void {
  let isStopping = false;
  app.addHook('preClose', (done) => {
    isStopping = true;
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    const awaitsContinue = request.raw.headers.expect !== undefined && reply.statusCode >= 400;
    const wantsUpgrade = request.raw.headers.upgrade !== undefined;
    if (isStopping || awaitsContinue || wantsUpgrade) reply.header('connection', 'close');
    done(null, payload);
  });
}
