import { styleText } from 'node:util';
import type { LogStream } from './log.ts';
import { LOG_LEVELS } from './log-level.ts';

/** Makes the lines of a log readable, for one that goes to a terminal. */
export function forPeople(log: LogStream): LogStream {
  return { ...log, write: (line) => log.write(`${readable(line)}\n`) };
}

/**
 * A log line as people like to read it: when, how grave, what happened, and the rest in grey. Coloured where standard
 * output is a terminal that has colours, unless `NO_COLOR` is set, and with `FORCE_COLOR` in any case.
 *
 * @param line a JSON object; what is none stays as it is
 */
export function readable(line: string): string {
  let fields: Fields;
  try {
    fields = JSON.parse(line) as Fields;
  } catch {
    return line.trimEnd();
  }
  const { level, time, id, method, route, status, ms, client, msg, reason, err } = fields;
  const clock = new Date(time).toTimeString().slice(0, 8);
  const name = Object.entries(LOG_LEVELS).find(([, number]) => number === level)?.[0] ?? String(level);
  const request =
    status !== undefined && `${(method ?? '-').padEnd(6)} ${(route ?? '-').padEnd(12)} ${status}`;
  const what = joined([request, msg, reason && `(${reason})`]);
  const details = joined([client, ms !== undefined && `${ms.toFixed(1)} ms`, id]);
  const stack = err && printable(err.stack || err.message);
  return joined([
    styleText('gray', clock),
    styleText(colourOf(level), name.padEnd(5)),
    level >= LOG_LEVELS.error ? styleText('bold', what) : what,
    details && styleText('gray', details),
    stack && `\n${styleText('gray', stack)}`,
  ]);
}

/** What may stand in a line. */
interface Fields {
  readonly level: number;
  readonly time: number;
  readonly id?: string;
  readonly method?: string | null;
  readonly route?: string | null;
  readonly status?: number;
  readonly ms?: number;
  readonly client?: string;
  readonly msg?: string;
  readonly reason?: string;
  readonly err?: { readonly message: string; readonly stack?: string };
}

function colourOf(level: number): 'red' | 'yellow' | 'green' | 'blue' {
  if (level >= LOG_LEVELS.error) return 'red';
  if (level >= LOG_LEVELS.warn) return 'yellow';
  return level >= LOG_LEVELS.info ? 'green' : 'blue';
}

function joined(words: readonly (string | false | undefined)[]): string {
  return words.filter(Boolean).join(' ');
}

/** Without the control characters by which a text could do something to a terminal. */
function printable(text: string): string {
  return text.replace(/(?!\n)\p{Cc}/gu, '?');
}
