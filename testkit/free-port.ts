import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Below the ephemeral ports of outgoing connections. */
const PORTS = { first: 10_000, end: 32_000 };

/** Each process begins at another port, by its id. */
let next = PORTS.first + 2 * (process.pid % ((PORTS.end - PORTS.first) / 2));

/**
 * Finds a loopback port without a listener, which no other process finds until this one ends, also while its server is stopped: it is not
 * ephemeral, and a listener of this process on the port after it marks it as taken.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = next;
    next = port + 2 < PORTS.end ? port + 2 : PORTS.first;
    const mark = await listen(port + 1);
    const server = mark && (await listen(port));
    if (server) {
      mark.unref();
      server.close();
      await once(server, 'close');
      return port;
    }
    mark?.close();
  }
}

/** @returns undefined if the port is in use */
async function listen(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return server;
  } catch {
    return undefined;
  }
}
