import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** The length of the queue of connections that are not accepted yet, up to the system's `somaxconn`. */
const BACKLOG = 4_096;

/**
 * Listens on all addresses of a host. Without a host it listens on all interfaces: IPv6 and IPv4, or IPv4 alone on a
 * machine without IPv6.
 *
 * @returns the listening servers, the one of the app first
 * @throws Error with a code such as `EADDRINUSE` when the port is not available
 */
export async function listen(app: FastifyInstance, port: number, host?: string): Promise<Server[]> {
  // For `localhost`, Fastify would create a second server without our listeners and options.
  const found = host === 'localhost' ? await lookup(host, { all: true }) : [{ address: host ?? '::' }];
  const [first = '', ...others] = found.map(({ address }) => address);
  try {
    await app.listen({ port, host: first, backlog: BACKLOG });
  } catch (error) {
    const lacksIpv6 = error instanceof Error && 'code' in error && error.code === 'EAFNOSUPPORT';
    if (host !== undefined || !lacksIpv6) throw error;
    await app.listen({ port, host: '0.0.0.0', backlog: BACKLOG });
  }
  const listeners: Server[] = [app.server];
  for (const address of others) {
    const listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      app.server.emit('connection', socket);
    });
    listener.listen({ port: portOf(app.server), host: address, backlog: BACKLOG });
    await once(listener, 'listening');
    listeners.push(listener);
  }
  return listeners;
}

/** The port that a server listens on. */
export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
