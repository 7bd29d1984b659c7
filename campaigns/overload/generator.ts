import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ResponseReader } from '../../bench/load/response-reader.ts';
import { outcomes } from '../../src/http/outcomes.ts';
import { request } from '../../testkit/connection.ts';

/** Requests of many clients. */
export interface Load {
  readonly port: number;
  /**
   * Requests per second, whether or not earlier ones have a response (an open loop); with Infinity each connection always
   * has one in flight (a closed loop).
   */
  readonly rate: number;
  readonly seconds: number;
  /** The number of connections, each with at most one request in flight; without an idle one a request is not sent. */
  readonly connections: number;
  /** The requests, sent in turn. */
  readonly requests: readonly string[];
}

/** The result of a load. */
export interface Outcome {
  /** The latencies by status, in milliseconds. */
  readonly latenciesMs: Readonly<Record<number, readonly number[]>>;
  /** Requests for which there was no idle connection. */
  readonly unsent: number;
  /** Connections that were closed without a response. */
  readonly lost: number;
  /** The number of 503 responses in the envelope, with Retry-After. */
  readonly rejections: number;
  /** The number of 2xx responses before the load ended. */
  readonly good: number;
}

/** Sends a load from its own process. */
export async function send(load: Load): Promise<Outcome> {
  const generator = fork(import.meta.filename, { execArgv: [], serialization: 'advanced' });
  generator.send(load);
  const [outcome] = (await once(generator, 'message')) as [Outcome];
  generator.disconnect();
  return outcome;
}

const REJECTION = JSON.stringify({ ...outcomes.serviceUnavailable, data: null });

/** How long to wait for the last responses. */
const LAST_RESPONSES_MS = 5_000;

/** A connection. */
interface Line {
  readonly socket: Socket;
  /** When its request was sent; 0 while it is idle. */
  sentMs: number;
}

class Generator {
  readonly #load: Load;
  readonly #bytes: readonly Buffer[];
  readonly #idle: Line[] = [];
  #latenciesMs: Record<number, number[]> = {};
  #inFlight = 0;
  #sent = 0;
  #unsent = 0;
  #lost = 0;
  #rejections = 0;

  constructor(load: Load) {
    this.#load = load;
    this.#bytes = load.requests.map((text) => Buffer.from(text));
  }

  async run(): Promise<Outcome> {
    const { rate, seconds, connections } = this.#load;
    await this.#connectAll();
    const started = performance.now();
    for (let elapsedMs = 0; elapsedMs < seconds * 1_000; elapsedMs = performance.now() - started) {
      const isClosed = rate === Number.POSITIVE_INFINITY;
      const due = isClosed ? this.#sent + connections - this.#inFlight : (elapsedMs / 1_000) * rate;
      for (; this.#sent < due; this.#sent++) {
        const line = this.#idle.pop();
        if (line) this.#send(line, this.#bytes[this.#sent % this.#bytes.length]);
        else this.#unsent++;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    const good = (this.#latenciesMs[200]?.length ?? 0) + (this.#latenciesMs[201]?.length ?? 0);
    const ended = performance.now();
    while (this.#inFlight > 0 && performance.now() - ended < LAST_RESPONSES_MS) await sleep(5);
    return {
      latenciesMs: this.#latenciesMs,
      unsent: this.#unsent,
      rejections: this.#rejections,
      lost: this.#lost + this.#inFlight,
      good,
    };
  }

  /** Opens all connections before the load, since a server accepts few at a time. */
  async #connectAll(): Promise<void> {
    const first = Buffer.from(request('GET /nowhere'));
    for (let index = 0; index < this.#load.connections; index++) this.#send(this.#connect(), first);
    while (this.#inFlight > 0) await sleep(5);
    this.#latenciesMs = {};
  }

  #send(line: Line, bytes: Buffer | undefined): void {
    this.#inFlight++;
    line.sentMs = performance.now();
    line.socket.write(bytes ?? '');
  }

  #connect(): Line {
    const { port } = this.#load;
    const line: Line = { socket: connect({ port, host: '127.0.0.1', noDelay: true }), sentMs: 0 };
    const reader = new ResponseReader((status) => {
      this.#latenciesMs[status] ??= [];
      this.#latenciesMs[status].push(performance.now() - line.sentMs);
      line.sentMs = 0;
      this.#inFlight--;
      this.#idle.push(line);
    });
    line.socket.on('data', (bytes: Buffer) => {
      if (bytes.includes(REJECTION) && bytes.includes('\r\nretry-after: ')) this.#rejections++;
      reader.read(bytes);
    });
    line.socket.on('error', () => {});
    line.socket.on('close', () => {
      const index = this.#idle.indexOf(line);
      if (index >= 0) this.#idle.splice(index, 1);
      if (line.sentMs === 0) return;
      this.#inFlight--;
      this.#lost++;
    });
    return line;
  }
}

if (import.meta.main) {
  process.once('disconnect', () => process.exit());
  const [load] = (await once(process, 'message')) as [Load];
  process.send?.(await new Generator(load).run());
}
