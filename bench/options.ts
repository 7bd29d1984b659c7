import { parseArgs } from 'node:util';
import { isPeer, SERVICE_NAMES, type ServiceName } from './services/service.ts';
import { WORKLOAD_NAMES, type WorkloadName } from './workloads.ts';

export interface Options {
  readonly rounds: number;
  /** Of a measurement. */
  readonly seconds: number;
  readonly services: readonly ServiceName[];
  readonly workloads: readonly WorkloadName[];
  readonly connections: readonly number[];
  readonly extras: boolean;
  /** Whether the results are those of all services and workloads, for the report of the project. */
  readonly isComplete: boolean;
  /** The file of the report. */
  readonly output: string | undefined;
}

/** Of a lone client and of several. */
export const CONNECTIONS: readonly number[] = [1, 32];

export const USAGE = `usage: npm run bench -- [options]

  --rounds N              interleaved rounds (3)
  --seconds N             of a measurement (2)
  --only A,B              services: ${SERVICE_NAMES.join(', ')}
  --workloads A,B         ${WORKLOAD_NAMES.join(', ')}
  --connections A,B       ${CONNECTIONS.join(', ')}
  --no-extras             without starts, memory and the list of 1,000,000 books
  --quick                 one round of one second at 32 connections, without extras and peers
  --output FILE           the report; by default bench/RESULTS.md, and if anything is left out
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
  const { output, rounds, seconds, ...parts } = values;
  return {
    rounds: readCount('rounds', rounds ?? (isQuick ? '1' : '3')),
    seconds: readCount('seconds', seconds ?? (isQuick ? '1' : '2')),
    services: readNames('only', values.only, SERVICE_NAMES).filter(
      (name) => !isQuick || values.only !== undefined || !isPeer(name),
    ),
    workloads: readNames('workloads', values.workloads, WORKLOAD_NAMES),
    connections: (values.connections ?? (isQuick ? ['32'] : CONNECTIONS).join(','))
      .split(',')
      .map((count) => readCount('connections', count)),
    extras: values.extras ?? !isQuick,
    isComplete: Object.keys(parts).length === 0,
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
