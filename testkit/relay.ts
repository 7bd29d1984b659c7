import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP relay to a port on loopback, which may change. */
export class Relay implements AsyncDisposable {
  /** The port that new connections are relayed to. */
  target: number;
  /** How many connections it has accepted. */
  accepted = 0;
  /**
   * Is passed each piece of a message, in both directions. Returns how many of its bytes are relayed before the connection is
   * cut; undefined relays all.
   */
  truncate: ((piece: Buffer) => number | undefined) | undefined;
  #isStalled = false;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** The connections of clients, each with the one to the target. */
  readonly #pairs = new Map<Socket, Socket>();
  readonly #forgotten = new WeakSet<Socket>();

  private constructor(target: number) {
    this.target = target;
    this.#server = createServer((client) => {
      this.accepted++;
      const server = connect(this.target, '127.0.0.1');
      this.#pairs.set(client, server);
      client.once('close', () => this.#pairs.delete(client));
      this.#forward(client, server);
      this.#forward(server, client);
    });
  }

  static async open(target: number): Promise<Relay> {
    const relay = new Relay(target);
    relay.#server.listen(0, '127.0.0.1');
    await once(relay.#server, 'listening');
    return relay;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Relays nothing until {@link resume}, which relays it late. Connections are accepted, and none is closed. */
  stall(): void {
    this.#isStalled = true;
    for (const socket of this.#sockets) socket.pause();
  }

  resume(): void {
    this.#isStalled = false;
    for (const socket of this.#sockets) if (!this.#forgotten.has(socket)) socket.resume();
  }

  /** Ends the connections to the target; those of clients stay open in silence, as if a firewall had forgotten them. */
  forget(): void {
    for (const [client, server] of this.#pairs) {
      this.#forgotten.add(client);
      client.pause();
      server.destroy();
    }
    this.#pairs.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const isClosed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await isClosed;
  }

  #forward(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.on('error', () => {});
    from.once('close', () => {
      this.#sockets.delete(from);
      if (!this.#forgotten.has(to)) to.destroySoon();
    });
    from.on('data', (piece: Buffer) => {
      const kept = this.truncate?.(piece);
      if (kept !== undefined) {
        to.write(piece.subarray(0, kept));
        from.destroy();
      } else if (!to.write(piece)) {
        from.pause();
        to.once('drain', () => {
          if (!this.#isStalled) from.resume();
        });
      }
    });
    if (this.#isStalled) from.pause();
  }
}
