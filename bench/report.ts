import { renderExtras } from './extras/report.ts';
import type { Machine } from './machine.ts';
import { decimal, megabytes, percent, table } from './markdown.ts';
import { type Options, TARGET_CONNECTIONS } from './options.ts';
import type { Results } from './results.ts';
import { services } from './services/service.ts';
import { reaches, type Target, targets } from './targets.ts';
import { type WorkloadName, workloads } from './workloads.ts';

/** A run that is over. */
export interface Run {
  readonly results: Results;
  readonly options: Options;
  readonly machine: Machine;
  /** What made the load. */
  readonly generator: string;
  readonly startedAt: Date;
}

/** The report as Markdown, with the same layout for every run. */
export function renderReport(run: Run): string {
  const { results, options, machine, startedAt } = run;
  const sections = [
    '# How fast it is',
    `Written by \`npm run bench\`, on ${startedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC. All services ran on the same machine in the same run.`,
    '## Machine',
    table(
      ['', ''],
      machine.map(([name, value]) => [name, value]),
    ),
    '## What was measured',
    renderMethod(run),
    '## Targets',
    renderTargets(results),
    '## Against the textbook service',
    `Requests a second at ${TARGET_CONNECTIONS} connections as multiples of the textbook service's in the same round: the same contract on Express, jsonwebtoken and Sequelize, without a log.`,
    renderMultiples(run),
    ...options.workloads.flatMap((workload) => [
      `## ${workloads[workload].title}`,
      renderWorkload(workload, run),
    ]),
    ...(options.extras ? renderExtras(results) : []),
    '## Failed measurements',
    renderFailures(results),
  ];
  return `${sections.join('\n\n')}\n`;
}

function renderMethod({ results, options, generator }: Run): string {
  const { rounds, seconds } = options;
  return [
    `- ${rounds} ${rounds === 1 ? 'round' : 'rounds'}. In each, every service gets every workload in turn, on 10,000 books; a number is the median over rounds, a ratio the median of the ratios within each round.`,
    `- A measurement takes ${seconds} s at ${TARGET_CONNECTIONS} connections and for lists, ${Math.ceil(seconds / 3)} s otherwise. Connections are kept alive, and each sends its next request when it has its answer.`,
    `- Load: ${generator}, as it and the service need a processor each. ${renderCeiling(results)}`,
    '- Before every measurement that follows a write, the table is restored to 10,000 books. DELETE gets as many as it can delete, each once.',
    '- Services run as their users run them, with default settings and their output in a file. The floor is a bare `node:http` server which sends a fixed envelope of the same size and looks at nothing but the path.',
    '- CPU is the time that the process of the service used for a request, on all processors, without that of PostgreSQL. Memory is resident memory of that process, at its peak during the measurement; MB are 1,000,000 bytes.',
    '- An answer other than 2xx or a lost connection fails the measurement: its numbers are left out and it is named at the end.',
  ].join('\n');
}

/** What the generator could do, from how busy it was with the quickest service. */
function renderCeiling(results: Results): string {
  const floor = { service: 'floor', workload: 'get', connections: TARGET_CONNECTIONS } as const;
  const share = results.median(floor, 'generatorShare');
  const rate = results.median(floor, 'requestsPerSecond');
  const meaning =
    '"generator" is how busy that thread was: below 100 %, it is not what holds a service back.';
  if (share === undefined || rate === undefined) return meaning;
  return `${meaning} GET one on the floor, ${decimal(rate)} a second, kept it ${percent(share)} busy, so that it could make about ${decimal(rate / share)}.`;
}

function renderTargets(results: Results): string {
  return table(
    ['target', '>wanted', '>measured', 'verdict', ''],
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
  return reaches(target, value) ? 'pass' : '**falls short**';
}

function renderMultiples({ results, options }: Run): string {
  const multiple = (service: 'sqlite' | 'postgres', workload: WorkloadName) => {
    const connections = TARGET_CONNECTIONS;
    const base = { service: 'textbook', workload, connections } as const;
    return decimal(results.ratio({ service, workload, connections }, base, 'requestsPerSecond'), 1, ' ×');
  };
  return table(
    ['workload', `>${services.sqlite}`, `>${services.postgres}`],
    options.workloads.map((workload) => [
      workloads[workload].title,
      multiple('sqlite', workload),
      multiple('postgres', workload),
    ]),
  );
}

function renderWorkload(workload: WorkloadName, { results, options }: Run): string {
  const rows = options.connections.flatMap((connections) =>
    options.services.map((service) => {
      const series = { service, workload, connections };
      const floor = { service: 'floor', workload, connections } as const;
      return [
        `${connections}`,
        services[service],
        decimal(results.median(series, 'requestsPerSecond')),
        decimal(results.ratio(series, floor, 'requestsPerSecond'), 2),
        decimal(results.median(series, 'p50Ms'), 2),
        decimal(results.median(series, 'p99Ms'), 2),
        decimal(results.median(series, 'cpuMicroseconds')),
        megabytes(results.median(series, 'peakMemoryBytes')),
        percent(results.median(series, 'generatorShare')),
      ];
    }),
  );
  return table(
    [
      '>connections',
      'service',
      '>a second',
      '>of the floor',
      '>p50 ms',
      '>p99 ms',
      '>CPU µs',
      '>peak MB',
      '>generator',
    ],
    rows,
  );
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
