import type { Meter } from './measure.ts';
import type { Options } from './options.ts';
import type { Results } from './results.ts';
import { KEPT, type Service } from './services/service.ts';

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
  const { seconds } = options;
  const first = round % services.length;
  const ordered = [...services.slice(first), ...services.slice(0, first)];
  for (const workload of options.workloads) {
    for (const connections of options.connections) {
      for (const service of ordered) {
        const measurement = { round, ...(await meter.measure({ service, workload, connections, seconds })) };
        results.measurements.push(measurement);
        const { requestsPerSecond, p99Ms, failures } = measurement;
        progress(
          `round ${round + 1} of ${options.rounds}: ${workload}, ${connections} connections, ${service.name}${service.kept ? ` (${KEPT[service.kept]})` : ''}: ` +
            `${Math.round(requestsPerSecond)} requests/s, p99 ${p99Ms.toFixed(2)} ms${failures > 0 ? `, ${failures} FAILED` : ''}`,
        );
      }
    }
  }
}
