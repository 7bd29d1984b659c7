import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setImmediate as endOfTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Load, OpenLoad, OpenLoadResult } from './load.ts';
import { ResponseReader } from './response-reader.ts';

/** The process that sends a load and prints its result as JSON. */

interface Connection {
  readonly socket: Socket;
  /** When its request was due; in a closed loop, when it was sent. */
  dueAt: number;
  /** Since when it has had no request; in an open loop only. */
  idleAt: number;
}

/** The longest time in which an open loop does not look for responses: the resolution of its latencies. */
const PAUSE_MS = 0.05;

/** The start of an open loop, which does not count: the generator's own code is slow until it is compiled. */
const WARM_UP_MS = 1_000;
const READ_BYTES = 65_536;

const load = JSON.parse(process.argv[2] ?? '') as Load & Partial<OpenLoad>;
const { hostname, port, host } = new URL(load.url);
const requests = readFileSync(load.requestsFile, 'utf8').trimEnd().split('\n').map(render);
const latenciesMs: number[] = [];
/** How late the generator has sent requests for which there was a connection. */
const delaysMs: number[] = [];
const idle: Connection[] = [];
let sent = 0;
let failures = 0;
let hasEnded = false;

const connections = Array.from({ length: load.connections }, openConnection);
await Promise.all(connections.map(({ socket }) => new Promise((resolve) => socket.once('connect', resolve))));
const cpuBefore = process.cpuUsage();
const openedAt = performance.now();
const startedAt = load.rate === undefined ? openedAt : openedAt + WARM_UP_MS;
const endsAt = startedAt + load.seconds * 1_000;
if (load.rate === undefined) {
  for (const connection of connections) send(connection, performance.now());
  await sleep(load.seconds * 1_000);
} else {
  idle.push(...connections);
  await sendAtDueTimes(load.rate);
}
hasEnded = true;
const responses = latenciesMs.length;
const elapsedSeconds = (performance.now() - startedAt) / 1_000;
const { user, system } = process.cpuUsage(cpuBefore);
for (const { socket } of connections) socket.destroy();

if (load.rate !== undefined) addUnfinished(load.rate);
const latencyMs = percentiles(latenciesMs);
const result: OpenLoadResult = {
  responses,
  seconds: elapsedSeconds,
  p50Ms: latencyMs(50),
  p99Ms: latencyMs(99),
  p999Ms: latencyMs(99.9),
  maxMs: latencyMs(100),
  delayP999Ms: percentiles(delaysMs)(99.9),
  failures,
  cpuSeconds: (user + system) / 1e6,
};
console.log(JSON.stringify(result));

function openConnection(): Connection {
  const reader = new ResponseReader((status) => {
    if (hasEnded) return;
    const now = performance.now();
    if (connection.dueAt >= startedAt) latenciesMs.push(now - connection.dueAt);
    if (status < 200 || status > 299) failures++;
    if (load.rate === undefined) return send(connection, now);
    connection.idleAt = now;
    idle.push(connection);
  });
  // One buffer for all reads: a new one for each is most of the garbage, whose collection would delay requests.
  const onread = {
    buffer: Buffer.allocUnsafe(READ_BYTES),
    callback: (bytes: number, buffer: Uint8Array) => {
      reader.read(Buffer.from(buffer.buffer, buffer.byteOffset, bytes));
      return true;
    },
  };
  const socket = connect({ host: hostname, port: Number(port), noDelay: true, onread });
  const connection: Connection = { socket, dueAt: 0, idleAt: 0 };
  socket.on('error', () => failures++).on('end', () => failures++);
  return connection;
}

function send(connection: Connection, at: number): void {
  connection.dueAt = at;
  connection.socket.write(requests[sent++ % requests.length] ?? '');
}

/** Sends requests at equal intervals. Those that are due while every connection has one wait for a response. */
async function sendAtDueTimes(rate: number): Promise<void> {
  // Without it, Linux makes every pause longer by 0.05 ms (proc_pid_timerslack_ns(5)).
  writeFileSync('/proc/self/timerslack_ns', '1');
  const clock = new Int32Array(new SharedArrayBuffer(4));
  const nextDueAt = () => dueAt(sent, rate);
  for (let now = openedAt; now < endsAt; now = performance.now()) {
    while (nextDueAt() <= now) {
      const connection = idle.pop();
      if (!connection) break;
      if (nextDueAt() >= startedAt)
        delaysMs.push(performance.now() - Math.max(nextDueAt(), connection.idleAt));
      send(connection, nextDueAt());
    }
    Atomics.wait(clock, 0, 0, Math.min(PAUSE_MS, Math.max(0, nextDueAt() - performance.now())));
    await endOfTurn();
  }
}

/** Requests without a response at the end count with their latency so far. */
function addUnfinished(rate: number): void {
  for (const { dueAt: since } of connections.filter((connection) => !idle.includes(connection)))
    latenciesMs.push(endsAt - since);
  for (; dueAt(sent, rate) < endsAt; sent++) latenciesMs.push(endsAt - dueAt(sent, rate));
}

function dueAt(index: number, rate: number): number {
  return openedAt + (index * 1_000) / rate;
}

function render(line: string): Buffer {
  const [, method, path, body = ''] = /^(\S+) (\S+) ?(.*)$/.exec(line) ?? [];
  const length = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${load.token}\r\n${body && length}\r\n${body}`,
  );
}

function percentiles(values: readonly number[]): (percent: number) => number {
  const sorted = Float64Array.from(values).toSorted();
  return (percent) => sorted[Math.floor(((sorted.length - 1) * percent) / 100)] ?? 0;
}
