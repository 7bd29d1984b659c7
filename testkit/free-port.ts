import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ephemeral ports of outgoing connections. */
const PORTS = { first: 10_000, end: 32_000 };

/** Each process has its own range, by its id, so that concurrent processes do not find the same port. */
const PORTS_EACH = 100;
const OWN = PORTS.first + (process.pid % ((PORTS.end - PORTS.first) / PORTS_EACH)) * PORTS_EACH;

let tried = 0;

/**
 * Finds a loopback port without a listener. It stays free while its server is stopped: it is not ephemeral, and is returned
 * again only after {@link PORTS_EACH} others.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = OWN + (tried++ % PORTS_EACH);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
      return port;
    } catch {
      // In use.
    } finally {
      server.close();
    }
  }
}
