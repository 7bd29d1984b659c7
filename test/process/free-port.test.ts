import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';

const PROCESSES = 4;
const PORTS = 20;

/** Begins at the same port as the other processes, and ends with its input. */
const SCRIPT = `
  Object.defineProperty(process, 'pid', { value: 1 });
  const { findFreePort } = await import('${import.meta.resolve('../../testkit/free-port.ts')}');
  const ports = [];
  while (ports.length < ${PORTS}) ports.push(await findFreePort());
  console.log(JSON.stringify(ports));
  process.stdin.resume();
`;

test('Processes that look for free ports at the same time find different ones', async () => {
  const children = Array.from({ length: PROCESSES }, () =>
    spawn(process.execPath, ['--input-type=module', '--eval', SCRIPT], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  const found = await Promise.all(
    children.map(async ({ stdout }) => {
      const [line] = (await once(createInterface(stdout), 'line')) as [string];
      return JSON.parse(line) as number[];
    }),
  );
  for (const { stdin } of children) stdin.end();
  assert.equal(new Set(found.flat()).size, PROCESSES * PORTS);
});
