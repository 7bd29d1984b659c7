import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** How many new connections may wait to be taken, where the system allows it (`somaxconn`). */
const BACKLOG = 4_096;

/**
 * Listens on every address that a host has; without a host on all interfaces: those of IPv6 and IPv4 together, unless
 * the machine has no IPv6.
 *
 * @returns what listens, the server itself first
 * @throws Error with a code such as `EADDRINUSE` when the port cannot be had
 */
export async function listen(app: FastifyInstance, port: number, host?: string): Promise<Server[]> {
  if (host !== undefined) return listenOn(app, port, await addressesOf(host));
  try {
    return await listenOn(app, port, ['::']);
  } catch (error) {
    const lacksIpv6 = error instanceof Error && 'code' in error && error.code === 'EAFNOSUPPORT';
    if (!lacksIpv6) throw error;
    return listenOn(app, port, ['0.0.0.0']);
  }
}

/** Fastify would make a second server for the other address of `localhost`, without any of what is ours. */
async function addressesOf(host: string): Promise<string[]> {
  if (host !== 'localhost') return [host];
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

async function listenOn(app: FastifyInstance, port: number, addresses: string[]): Promise<Server[]> {
  const [first = '', ...others] = addresses;
  await app.listen({ port, host: first, backlog: BACKLOG });
  const listeners: Server[] = [app.server];
  for (const host of others) {
    const twin = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      app.server.emit('connection', socket);
    });
    twin.listen({ port: portOf(app.server), host, backlog: BACKLOG });
    await once(twin, 'listening');
    listeners.push(twin);
  }
  return listeners;
}

/** The port that a server listens on. */
export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
