import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Load, LoadResult } from './load.ts';
import { ResponseReader } from './response-reader.ts';

/** The process that sends a load and prints its result as JSON. */

const READ_BYTES = 65_536;

const load = JSON.parse(process.argv[2] ?? '') as Load;
const { hostname, port, host } = new URL(load.url);
const requests = readFileSync(load.requestsFile, 'utf8').trimEnd().split('\n').map(render);
const latenciesMs: number[] = [];
let sent = 0;
let failures = 0;
let hasEnded = false;

const connections = Array.from({ length: load.connections }, openConnection);
await Promise.all(connections.map(({ socket }) => once(socket, 'connect')));
const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
for (const { send } of connections) send();
await sleep(load.seconds * 1_000);
hasEnded = true;
const seconds = (performance.now() - startedAt) / 1_000;
const { user, system } = process.cpuUsage(cpuBefore);
for (const { socket } of connections) socket.destroy();

const sorted = Float64Array.from(latenciesMs).toSorted();
const latencyMs = (percent: number) => sorted[Math.floor(((sorted.length - 1) * percent) / 100)] ?? 0;
const result: LoadResult = {
  responses: latenciesMs.length,
  seconds,
  p50Ms: latencyMs(50),
  p99Ms: latencyMs(99),
  failures,
  cpuSeconds: (user + system) / 1e6,
};
console.log(JSON.stringify(result));

function openConnection(): { readonly socket: Socket; readonly send: () => void } {
  let sentAt = 0;
  const send = () => {
    sentAt = performance.now();
    socket.write(requests[sent++ % requests.length] ?? '');
  };
  const reader = new ResponseReader((status) => {
    if (hasEnded) return;
    latenciesMs.push(performance.now() - sentAt);
    if (status < 200 || status > 299) failures++;
    send();
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
  socket.on('error', () => failures++).on('end', () => failures++);
  return { socket, send };
}

function render(line: string): Buffer {
  const [, method, path, body = ''] = /^(\S+) (\S+) ?(.*)$/.exec(line) ?? [];
  const length = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${load.token}\r\n${body && length}\r\n${body}`,
  );
}
