import type { Meter } from './measure.ts';
import { type Options, TARGET_CONNECTIONS } from './options.ts';
import { selectByPgbench } from './pgbench.ts';
import type { Results } from './results.ts';
import type { Service } from './services/service.ts';
import type { WorkloadName } from './workloads.ts';

/** What a round works with. */
export interface RoundTools {
  readonly options: Options;
  readonly meter: Meter;
  readonly results: Results;
  readonly progress: (line: string) => void;
}

/**
 * Measures every workload once on every service. The services take turns at the same work, so that whatever else the
 * machine does meanwhile meets all of them; each round another one is first.
 */
export async function measureRound(
  round: number,
  services: readonly Service[],
  { options, meter, results, progress }: RoundTools,
): Promise<void> {
  const first = round % services.length;
  const turns = [...services.slice(first), ...services.slice(0, first)];
  for (const workload of options.workloads) {
    for (const connections of options.connections) {
      const seconds = secondsOf(workload, connections, options);
      for (const service of turns) {
        const measurement = { round, ...(await meter.measure({ service, workload, connections, seconds })) };
        results.measurements.push(measurement);
        const { requestsPerSecond, p99Ms, failures } = measurement;
        progress(
          `round ${round + 1} of ${options.rounds}: ${workload}, ${connections} connections, ${service.name}: ` +
            `${Math.round(requestsPerSecond)} a second, p99 ${p99Ms.toFixed(2)} ms${failures > 0 ? `, ${failures} FAILED` : ''}`,
        );
      }
    }
  }
  const postgres = services.find(({ name }) => name === 'postgres');
  if (!options.extras || !postgres?.databaseUrl) return;
  const selects = await selectByPgbench(postgres.databaseUrl, TARGET_CONNECTIONS, options.seconds);
  results.pgbench[round] = selects;
  if (selects !== undefined) progress(`round ${round + 1}: pgbench: ${Math.round(selects)} selects a second`);
}

/** The targets' connections get all the time; of long lists, less would hold too few. */
function secondsOf(workload: WorkloadName, connections: number, { seconds }: Options): number {
  const isShort = connections !== TARGET_CONNECTIONS && workload !== 'list';
  return isShort ? Math.ceil(seconds / 3) : seconds;
}
