import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Load, LoadResult } from './generator.ts';
import { ResponseReader } from './response-reader.ts';

/** The process that sends a load and prints its result as JSON. */

const { url, requestsFile, token, connections, seconds } = JSON.parse(process.argv[2] ?? '') as Load;
const { hostname, port, host } = new URL(url);
const requests = readFileSync(requestsFile, 'utf8').trimEnd().split('\n').map(render);
const latenciesMs: number[] = [];
let position = 0;
let failures = 0;
let hasEnded = false;

const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
const sockets = Array.from({ length: connections }, openConnection);
await sleep(seconds * 1_000);
hasEnded = true;
const elapsedSeconds = (performance.now() - startedAt) / 1_000;
const { user, system } = process.cpuUsage(cpuBefore);
for (const socket of sockets) socket.destroy();

latenciesMs.sort((left, right) => left - right);
const result: LoadResult = {
  responses: latenciesMs.length,
  seconds: elapsedSeconds,
  p50Ms: percentile(50),
  p99Ms: percentile(99),
  failures,
  cpuSeconds: (user + system) / 1e6,
};
console.log(JSON.stringify(result));

/** Opens a connection that always has one pending request. */
function openConnection(): Socket {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let sentAt = 0;
  const send = () => {
    sentAt = performance.now();
    socket.write(requests[position++ % requests.length] ?? '');
  };
  const reader = new ResponseReader((status) => {
    if (hasEnded) return;
    latenciesMs.push(performance.now() - sentAt);
    if (status < 200 || status > 299) failures++;
    send();
  });
  return socket
    .on('connect', send)
    .on('data', (bytes: Buffer) => reader.read(bytes))
    .on('error', () => failures++)
    .on('end', () => failures++);
}

function render(line: string): Buffer {
  const [, method, path, body = ''] = /^(\S+) (\S+) ?(.*)$/.exec(line) ?? [];
  const length = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${token}\r\n${body && length}\r\n${body}`,
  );
}

function percentile(percent: number): number {
  return latenciesMs[Math.floor(((latenciesMs.length - 1) * percent) / 100)] ?? 0;
}
