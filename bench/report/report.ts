import type { Machine } from '../machine.ts';
import type { Options } from '../options.ts';
import type { Results } from '../results.ts';
import { isPeer, services } from '../services/service.ts';
import { type WorkloadName, workloads } from '../workloads.ts';
import { renderExtras } from './extras.ts';
import { decimal, megabytes, percent, table } from './markdown.ts';
import { renderPeers } from './peers.ts';
import { goals, guards, reaches, type Target } from './targets.ts';

/** A completed run. */
interface Run {
  readonly results: Results;
  readonly options: Options;
  readonly machine: Machine;
  /** The title of the load generator. */
  readonly generator: string;
  readonly startedAt: Date;
}

/** The last section. `bench/extras/growth.ts` measures it in a run of its own, so a new report keeps that of the one before. */
const GROWTH = '\n## Ten million books\n';

/**
 * Renders the report as Markdown.
 *
 * @param before the report that it replaces
 */
export function renderReport(run: Run, before: string): string {
  const { results, options, machine, startedAt } = run;
  const growthAt = before.indexOf(GROWTH);
  const sections = [
    '# Benchmark results',
    `Written by \`npm run bench\`, on ${startedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC, all on one machine in one run.`,
    ...(options.services.some(isPeer) ? ['## The service and its peers', renderPeers(results)] : []),
    '## What a release must hold',
    renderTargets(guards, results),
    '## Goals',
    '[MEASUREMENTS.md](MEASUREMENTS.md) has what was tried in vain, and [why ten million books take what they take](MEASUREMENTS.md#growth).',
    renderTargets(goals, results),
    '## Machine',
    table(
      ['', ''],
      machine.map(([name, value]) => [name, value]),
    ),
    '## Method',
    renderMethod(run),
    ...options.workloads.flatMap((workload) => [
      `## ${workloads[workload].title}`,
      renderWorkload(workload, run),
    ]),
    ...(options.extras ? renderExtras(results) : []),
    '## Failed measurements',
    renderFailures(results),
  ];
  return `${sections.join('\n\n')}\n${growthAt === -1 ? '' : before.slice(growthAt)}`;
}

function renderMethod({ results, options, generator }: Run): string {
  const { rounds, seconds } = options;
  return [
    `- ${rounds} ${rounds === 1 ? 'round' : 'rounds'}, in each of which every service runs every workload on 10,000 books. Numbers are medians of the rounds; ratios are medians of the ratios within each round.`,
    `- A measurement takes ${seconds} s. Connections are kept alive; each sends its next request after the response.`,
    `- Load generator: ${generator}. ${renderUtilization(results)}`,
    '- After measurements that write, the table is restored to 10,000 books. For DELETE it has more books than can be deleted in the time.',
    '- Services run with default settings, with a history on SQLite, and log to a file. The floor is a bare `node:http` server that sends a fixed response of the same size.',
    '- CPU is the CPU time of the process of the service for a request, without PostgreSQL. Memory is the peak resident memory of that process; 1 MB is 1,000,000 bytes.',
    '- A response other than 2xx or a lost connection fails the measurement: it is excluded, and listed at the end.',
  ].join('\n');
}

/** The highest utilization of the generator, which limits no service below 100 %. */
function renderUtilization(results: Results): string {
  const shares = results.measurements.flatMap((series) => results.median(series, 'generatorShare') ?? []);
  return `It was busy for at most ${percent(Math.max(...shares))} of the time: below 100 %, it does not limit a service.`;
}

function renderTargets(targets: readonly Target[], results: Results): string {
  return table(
    ['metric', '>target', '>measured', 'result', ''],
    targets.map((target) => {
      const { title, bound, limit, unit, decimals, remark } = target;
      const value = target.measure(results);
      return [
        title,
        `${bound} ${limit} ${unit}`,
        decimal(value, decimals),
        verdict(target, value),
        value === undefined ? '' : (remark?.(results) ?? ''),
      ];
    }),
  );
}

function verdict(target: Target, value: number | undefined): string {
  if (value === undefined) return 'not measured';
  if (Number.isNaN(value)) return '**failed**';
  return reaches(target, value) ? 'pass' : '**missed**';
}

function renderWorkload(workload: WorkloadName, { results, options }: Run): string {
  const rows = options.connections.flatMap((connections) =>
    options.services.flatMap((service) => {
      const series = { service, workload, connections };
      if (results.median(series, 'requestsPerSecond') === undefined) return [];
      return [
        [
          `${connections}`,
          services[service],
          decimal(results.median(series, 'requestsPerSecond')),
          decimal(results.median(series, 'p50Ms'), 2),
          decimal(results.median(series, 'p99Ms'), 2),
          decimal(results.median(series, 'cpuMicroseconds')),
          megabytes(results.median(series, 'peakMemoryBytes')),
        ],
      ];
    }),
  );
  return table(['>connections', 'service', '>requests/s', '>p50 ms', '>p99 ms', '>CPU µs', '>peak MB'], rows);
}

function renderFailures({ failed }: Results): string {
  if (failed.length === 0) return 'None.';
  return table(
    ['>round', 'workload', 'service', '>connections', '>failures'],
    failed.map(({ round, workload, service, connections, failures }) => [
      `${round + 1}`,
      workloads[workload].title,
      services[service],
      `${connections}`,
      decimal(failures),
    ]),
  );
}
