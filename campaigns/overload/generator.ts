import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ResponseReader } from '../../bench/load/response-reader.ts';
import { outcomes } from '../../src/http/outcomes.ts';
import { request } from '../../test/http/connection.ts';

/** Requests of many clients. */
export interface Load {
  readonly port: number;
  /**
   * How many come in a second, whatever becomes of those before them (an open loop); with Infinity each connection has
   * one under way at all times (a closed loop).
   */
  readonly rate: number;
  readonly seconds: number;
  /** How many clients there are, each with one request under way at most; what finds none free is not sent. */
  readonly connections: number;
  /** What is sent, over and over. */
  readonly requests: readonly string[];
}

/** What came of them. */
export interface Outcome {
  /** For each status, the time to every answer in milliseconds, in ascending order. */
  readonly waitsMs: Readonly<Record<number, readonly number[]>>;
  /** Requests for which there was no free connection. */
  readonly unsent: number;
  /** Connections that ended without an answer. */
  readonly lost: number;
  /** How many answers were refusals as they should be: 503 in the envelope, with Retry-After. */
  readonly refusals: number;
  /** How many answers had come with 2xx when the load ended. */
  readonly good: number;
}

/** Sends a load from a process of its own. */
export async function send(load: Load): Promise<Outcome> {
  const generator = fork(import.meta.filename, { execArgv: [], serialization: 'advanced' });
  generator.send(load);
  const [outcome] = (await once(generator, 'message')) as [Outcome];
  generator.disconnect();
  return outcome;
}

const REFUSAL = JSON.stringify({ ...outcomes.serviceUnavailable, data: null });

/** How long the last answers are waited for. */
const LAST_ANSWERS_MS = 5_000;

/** One connection: idle, or with a request under way since a moment. */
interface Line {
  readonly socket: Socket;
  askedMs: number;
}

class Generator {
  readonly #load: Load;
  readonly #bytes: readonly Buffer[];
  readonly #idle: Line[] = [];
  #waitsMs: Record<number, number[]> = {};
  #underWay = 0;
  #asked = 0;
  #unsent = 0;
  #lost = 0;
  #refusals = 0;

  constructor(load: Load) {
    this.#load = load;
    this.#bytes = load.requests.map((text) => Buffer.from(text));
  }

  async run(): Promise<Outcome> {
    const { rate, seconds, connections } = this.#load;
    await this.#arrive();
    const started = performance.now();
    for (let elapsedMs = 0; elapsedMs < seconds * 1_000; elapsedMs = performance.now() - started) {
      const isClosed = rate === Number.POSITIVE_INFINITY;
      const due = isClosed ? this.#asked + connections - this.#underWay : (elapsedMs / 1_000) * rate;
      for (; this.#asked < due; this.#asked++) {
        const line = this.#idle.pop();
        if (line) this.#ask(line, this.#bytes[this.#asked % this.#bytes.length]);
        else this.#unsent++;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    const good = (this.#waitsMs[200]?.length ?? 0) + (this.#waitsMs[201]?.length ?? 0);
    const ended = performance.now();
    while (this.#underWay > 0 && performance.now() - ended < LAST_ANSWERS_MS) await sleep(5);
    for (const waits of Object.values(this.#waitsMs)) waits.sort((one, other) => one - other);
    return {
      waitsMs: this.#waitsMs,
      unsent: this.#unsent,
      refusals: this.#refusals,
      lost: this.#lost + this.#underWay,
      good,
    };
  }

  /** All clients come before the load does: a server takes few new ones at a time. */
  async #arrive(): Promise<void> {
    const greeting = Buffer.from(request('GET /nowhere'));
    for (let index = 0; index < this.#load.connections; index++) this.#ask(this.#connect(), greeting);
    while (this.#underWay > 0) await sleep(5);
    this.#waitsMs = {};
  }

  #ask(line: Line, bytes: Buffer = EMPTY): void {
    this.#underWay++;
    line.askedMs = performance.now();
    line.socket.write(bytes);
  }

  #connect(): Line {
    const { port } = this.#load;
    const line: Line = { socket: connect({ port, host: '127.0.0.1', noDelay: true }), askedMs: 0 };
    const reader = new ResponseReader((status) => {
      this.#waitsMs[status] ??= [];
      this.#waitsMs[status].push(performance.now() - line.askedMs);
      line.askedMs = 0;
      this.#underWay--;
      this.#idle.push(line);
    });
    line.socket.on('data', (bytes: Buffer) => {
      if (bytes.includes(REFUSAL) && bytes.includes('\r\nretry-after: ')) this.#refusals++;
      reader.read(bytes);
    });
    line.socket.on('error', () => {});
    line.socket.on('close', () => {
      const index = this.#idle.indexOf(line);
      if (index >= 0) this.#idle.splice(index, 1);
      if (line.askedMs === 0) return;
      this.#underWay--;
      this.#lost++;
    });
    return line;
  }
}

const EMPTY = Buffer.alloc(0);

if (import.meta.main) {
  process.once('disconnect', () => process.exit());
  const [load] = (await once(process, 'message')) as [Load];
  process.send?.(await new Generator(load).run());
}
