import assert from 'node:assert/strict';

/** All that a log line may hold. There is no place in it for a header, a body or a request target. */
const KEYS = new Set(['level', 'time', 'id', 'method', 'route', 'status', 'ms', 'reason', 'err', 'msg']);
const ERROR_KEYS = new Set(['type', 'message', 'stack', 'code']);

/** Anything signed looks like this. */
const TOKEN = /eyJ[\w-]+\.[\w-]*/;

/** What a log line tells. */
export interface LogLine {
  /** 30: it happened; 40: the operator should know; 50: a defect. */
  readonly level: number;
  readonly msg?: string;
  readonly reason?: string;
  readonly err?: { readonly type: string; readonly message: string; readonly stack: string };
}

/** The lines of a log, parsed. */
export function parseLog(lines: readonly string[]): LogLine[] {
  return lines.map((line) => JSON.parse(line) as LogLine);
}

/** Asserts that a log holds nothing but what log lines are for, and none of these texts. */
export function assertLogTellsNothing(lines: readonly string[], confidential: readonly string[]): void {
  for (const line of lines) {
    for (const text of confidential) assert.ok(!line.includes(text), `the log tells a secret: ${line}`);
    assert.doesNotMatch(line, TOKEN);
  }
  for (const line of parseLog(lines)) {
    assert.ok(
      Object.keys(line).every((key) => KEYS.has(key)),
      `a strange log line: ${JSON.stringify(line)}`,
    );
    assert.ok(
      Object.keys(line.err ?? {}).every((key) => ERROR_KEYS.has(key)),
      JSON.stringify(line),
    );
  }
}
