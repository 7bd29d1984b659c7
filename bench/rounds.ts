import type { Meter } from './measure.ts';
import { type Options, PEER_CONNECTIONS, TARGET_CONNECTIONS } from './options.ts';
import { runPgbench } from './pgbench.ts';
import type { Results } from './results.ts';
import { isPeer, type Service, type ServiceName } from './services/service.ts';
import { PEER_WORKLOADS, type WorkloadName } from './workloads.ts';

interface RoundOptions {
  readonly options: Options;
  readonly meter: Meter;
  readonly results: Results;
  readonly progress: (line: string) => void;
}

/**
 * Measures every workload once on every service. The services take turns, so that other activity of the machine affects all
 * of them; each round begins with another one.
 */
export async function measureRound(
  round: number,
  services: readonly Service[],
  { options, meter, results, progress }: RoundOptions,
): Promise<void> {
  const first = round % services.length;
  const ordered = [...services.slice(first), ...services.slice(0, first)];
  for (const workload of options.workloads) {
    for (const connections of options.connections) {
      for (const service of ordered) {
        const { name } = service;
        if (!isMeasured(name, workload, connections)) continue;
        const hasTargets = connections === TARGET_CONNECTIONS && !isPeer(name) && name !== 'textbook';
        const seconds = hasTargets ? options.seconds : 1;
        const measurement = { round, ...(await meter.measure({ service, workload, connections, seconds })) };
        results.measurements.push(measurement);
        const { requestsPerSecond, p99Ms, failures } = measurement;
        progress(
          `round ${round + 1} of ${options.rounds}: ${workload}, ${connections} connections, ${name}: ` +
            `${Math.round(requestsPerSecond)} requests/s, p99 ${p99Ms.toFixed(2)} ms${failures > 0 ? `, ${failures} FAILED` : ''}`,
        );
      }
    }
  }
  const postgres = services.find(({ name }) => name === 'postgres');
  if (!options.extras || !postgres?.databaseUrl) return;
  for (const workload of ['get', 'put'] as const) {
    const rate = await runPgbench(workload, postgres.databaseUrl, TARGET_CONNECTIONS, options.seconds);
    results.pgbench[workload][round] = rate;
    if (rate !== undefined)
      progress(`round ${round + 1}: pgbench, ${workload}: ${Math.round(rate)} transactions/s`);
  }
}

/** What no table of the report has is not measured. */
function isMeasured(name: ServiceName, workload: WorkloadName, connections: number): boolean {
  if (isPeer(name)) return PEER_WORKLOADS.includes(workload) && PEER_CONNECTIONS.includes(connections);
  if (name === 'textbook' || !PEER_WORKLOADS.includes(workload)) return connections === TARGET_CONNECTIONS;
  return true;
}
