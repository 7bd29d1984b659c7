import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports are taken from here: below the range from which systems take those of outgoing connections. */
const PORTS = { first: 10_000, end: 32_000 };

/** Every process has some of its own, by its id: otherwise two that look at the same time may find the same one. */
const PORTS_EACH = 100;
const OWN = PORTS.first + (process.pid % ((PORTS.end - PORTS.first) / PORTS_EACH)) * PORTS_EACH;

let tried = 0;

/**
 * A loopback port that nobody listens on, and that nothing takes by chance while its owner is stopped: it is no port
 * of outgoing connections, and comes again only after {@link PORTS_EACH} others.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = OWN + (tried++ % PORTS_EACH);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
      return port;
    } catch {
      // Taken: try another.
    } finally {
      server.close();
    }
  }
}
