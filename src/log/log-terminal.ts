import { styleText } from 'node:util';
import type { LogStream } from './log.ts';
import { LOG_LEVELS } from './log-level.ts';

/** A log that writes lines for people, instead of JSON. */
export function prettyPrinted(log: LogStream): LogStream {
  return { ...log, write: (line) => log.write(`${formatLine(line)}\n`) };
}

/** Formats a log line, which is a JSON object; returns any other text trimmed. */
export function formatLine(line: string): string {
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
  const event = joined([request, msg, reason && `(${reason})`]);
  const details = joined([client, ms !== undefined && `${ms.toFixed(1)} ms`, id]);
  const stack = err && printable(err.stack || err.message);
  return joined([
    styleText('gray', clock),
    styleText(colourOf(level), name.padEnd(5)),
    level >= LOG_LEVELS.error ? styleText('bold', event) : event,
    details && styleText('gray', details),
    stack && `\n${styleText('gray', stack)}`,
  ]);
}

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

/** Without control characters, which could be terminal escape sequences. */
function printable(text: string): string {
  return text.replace(/(?!\n)\p{Cc}/gu, '?');
}
