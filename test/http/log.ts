import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { assertTellsNothing } from './telltales.ts';

/** All that a log line may hold. There is no place in it for a header, a body or a request target. */
const KEYS = new Set([
  'level',
  'time',
  'id',
  'method',
  'route',
  'status',
  'ms',
  'client',
  'reason',
  'err',
  'msg',
]);
const ERROR_KEYS = new Set(['type', 'message', 'stack', 'code']);

/** What a log line tells. */
export interface LogLine {
  /** 30: it happened; 40: the operator should know; 50: it failed. */
  readonly level: number;
  readonly id?: string;
  readonly msg?: string;
  readonly status?: number;
  readonly client?: string;
  readonly reason?: string;
  readonly err?: { readonly type: string; readonly message: string; readonly stack: string };
}

/** The lines of a log, parsed. */
export function parseLog(lines: readonly string[]): LogLine[] {
  return lines.map((line) => JSON.parse(line) as LogLine);
}

/** The line of a request, which is nearly every line: wherever it has this form, there is no place in it to tell anything. */
const REQUEST_LINE =
  /^\{"level":(?:30|40),"time":\d+,"id":"[\w-]+","method":"[A-Z-]+","route":(?:null|"\/(?:token|books?|book\/:id|healthz|readyz)"),"status":\d+,"ms":[\d.]+\}$/;

/** Asserts that a log holds nothing but what log lines are for, and none of these texts. */
export function assertLogTellsNothing(lines: readonly string[], confidential: readonly string[]): void {
  const others = lines.filter((line) => !REQUEST_LINE.test(line));
  for (const line of others) {
    for (const text of confidential) assert.ok(!line.includes(text), `the log tells a secret: ${line}`);
  }
  for (const line of parseLog(others)) {
    assert.ok(
      Object.keys(line).every((key) => KEYS.has(key)),
      `a strange log line: ${JSON.stringify(line)}`,
    );
    assert.ok(
      Object.keys(line.err ?? {}).every((key) => ERROR_KEYS.has(key)),
      JSON.stringify(line),
    );
    // A defect has its stack, a store that is away its reason, which is a code, and a route is a pattern of ours.
    assert.match(line.reason ?? '', /^[\w ]*$/);
    assert.match(line.id ?? '', /^[\w.:=+/@~-]{0,128}$/);
    assert.ok(line.client === undefined || isIP(line.client) > 0, `no address: ${line.client}`);
    assertTellsNothing(JSON.stringify({ ...line, id: '', route: '', client: '', reason: '', err: {} }));
  }
}
