import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { chooseGenerator } from './load/generator.ts';
import { describeMachine } from './machine.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { renderReport } from './report/report.ts';
import { run } from './run.ts';

/** `npm run bench`: compares the service with its peers and a bare server, and writes the report. */

const options = readCommandLine();
const folder = mkdtempSync(join(tmpdir(), 'bookkeeping-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
// Runs the exit listeners, which kill the started processes.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const generator = chooseGenerator();
const startedAt = new Date();
const machine = describeMachine(folder);
const results = await run(options, { generator, folder, progress });
const file =
  options.output ?? join(import.meta.dirname, options.isComplete ? 'RESULTS.md' : 'data/RESULTS.md');
mkdirSync(dirname(file), { recursive: true });
const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
writeFileSync(
  file,
  renderReport({ results, options, machine, generator: generator.title, startedAt }, before),
);
progress(`written to ${relative(process.cwd(), file)}`);
for (const { round, workload, service, connections, failures } of results.failed) {
  console.error(
    `FAILED: round ${round + 1}, ${workload}, ${service}, ${connections} connections: ${failures}`,
  );
}
process.exitCode = results.failed.length > 0 ? 1 : 0;

function readCommandLine(): Options {
  try {
    const read = readOptions(process.argv.slice(2));
    if (read) return read;
    console.log(USAGE);
    return process.exit(0);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return process.exit(2);
  }
}

function progress(line: string): void {
  const seconds = Math.round(performance.now() / 1_000);
  console.error(`${String(seconds).padStart(5)} s  ${line}`);
}
