import { parseArgs } from 'node:util';
import { isPeer, SERVICE_NAMES, type ServiceName } from './services/service.ts';
import { WORKLOAD_NAMES, type WorkloadName } from './workloads.ts';

export interface Options {
  readonly rounds: number;
  /** Of a measurement at {@link TARGET_CONNECTIONS}. */
  readonly seconds: number;
  readonly services: readonly ServiceName[];
  readonly workloads: readonly WorkloadName[];
  readonly connections: readonly number[];
  readonly extras: boolean;
  /** Whether all settings are the defaults. */
  readonly isComplete: boolean;
  /** The file of the report. */
  readonly output: string | undefined;
}

/** The number of connections of the targets. */
export const TARGET_CONNECTIONS = 32;

export const PEER_CONNECTIONS: readonly number[] = [1, TARGET_CONNECTIONS];

export const USAGE = `usage: npm run bench -- [options]

  --rounds N              interleaved rounds (3)
  --seconds N             of a measurement at ${TARGET_CONNECTIONS} connections, without peers (2); others take 1 second
  --only A,B              services: ${SERVICE_NAMES.join(', ')}
  --workloads A,B         ${WORKLOAD_NAMES.join(', ')}
  --connections A,B       1, 32, 128
  --no-extras             without starts, memory, pgbench and the list of 1,000,000 books
  --quick                 one round of one second at ${TARGET_CONNECTIONS} connections, without extras and peers
  --output FILE           the report; by default bench/RESULTS.md, and with other settings
                          bench/data/RESULTS.md
  --help`;

/** Reads the command line. @returns undefined for --help. @throws Error for an invalid option */
export function readOptions(args: string[]): Options | undefined {
  const { values } = parseArgs({
    args,
    allowNegative: true,
    options: {
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      only: { type: 'string' },
      workloads: { type: 'string' },
      connections: { type: 'string' },
      extras: { type: 'boolean' },
      quick: { type: 'boolean' },
      output: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return undefined;
  const isQuick = values.quick === true;
  const { output, ...settings } = values;
  return {
    rounds: readCount('rounds', values.rounds ?? (isQuick ? '1' : '3')),
    seconds: readCount('seconds', values.seconds ?? (isQuick ? '1' : '2')),
    services: readNames('only', values.only, SERVICE_NAMES).filter(
      (name) => !isQuick || values.only !== undefined || !isPeer(name),
    ),
    workloads: readNames('workloads', values.workloads, WORKLOAD_NAMES),
    connections: (values.connections ?? (isQuick ? `${TARGET_CONNECTIONS}` : '1,32,128'))
      .split(',')
      .map((count) => readCount('connections', count)),
    extras: values.extras ?? !isQuick,
    isComplete: Object.keys(settings).length === 0,
    output,
  };
}

function readCount(option: string, text: string): number {
  if (!/^[1-9][0-9]{0,3}$/.test(text)) throw new Error(`--${option} must be a whole number from 1 to 9999`);
  return Number(text);
}

function readNames<Name extends string>(
  option: string,
  text: string | undefined,
  names: readonly Name[],
): readonly Name[] {
  if (text === undefined) return names;
  const chosen = text.split(',');
  const unknown = chosen.find((name) => !(names as readonly string[]).includes(name));
  if (unknown !== undefined) throw new Error(`--${option} must be of ${names.join(', ')}; not ${unknown}`);
  return names.filter((name) => chosen.includes(name));
}
