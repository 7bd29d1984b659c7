import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { assertNothingConfidential } from './confidential.ts';

/** The keys of log lines. None is for a header, a body or a request target. */
export const LOG_KEYS = new Set([
  'level',
  'time',
  'id',
  'method',
  'route',
  'status',
  'ms',
  'scope',
  'client',
  'reason',
  'constraint',
  'err',
  'msg',
]);
const ERROR_KEYS = new Set(['type', 'message', 'stack', 'code']);

/** A parsed log line. */
export interface LogLine {
  /** 30: info; 40: warn; 50: error. */
  readonly level: number;
  readonly id?: string;
  readonly msg?: string;
  readonly status?: number;
  readonly client?: string;
  readonly reason?: string;
  /** Of the table: a name. */
  readonly constraint?: string;
  readonly err?: { readonly type: string; readonly message: string; readonly stack: string };
}

/** The lines of a log, parsed. */
export function parseLog(lines: readonly string[]): LogLine[] {
  return lines.map((line) => JSON.parse(line) as LogLine);
}

/** The form of nearly every line, that of a request, which cannot contain confidential data. */
const REQUEST_LINE =
  /^\{"level":(?:30|40),"time":\d+,"id":"[\w-]+","method":"[A-Z-]+","route":(?:null|"\/(?:token|books?|book\/:id|healthz|readyz)"),"status":\d+,"ms":[\d.]+\}$/;

/** Asserts that a log has only known keys, no confidential data, and none of these texts. */
export function assertNothingConfidentialInLog(
  lines: readonly string[],
  confidential: readonly string[],
): void {
  const unusual = lines.filter((line) => !REQUEST_LINE.test(line));
  for (const line of unusual) {
    for (const text of confidential) assert.ok(!line.includes(text), `the log has a secret: ${line}`);
  }
  for (const line of parseLog(unusual)) {
    assert.ok(
      Object.keys(line).every((key) => LOG_KEYS.has(key)),
      `an unknown key: ${JSON.stringify(line)}`,
    );
    assert.ok(
      Object.keys(line.err ?? {}).every((key) => ERROR_KEYS.has(key)),
      JSON.stringify(line),
    );
    // A defect has its stack, an unavailable store its reason, which is a code, and a route is a pattern of the router.
    assert.match(line.reason ?? '', /^[\w ]*$/);
    assert.match(line.id ?? '', /^[\w.:=+/@~-]{0,128}$/);
    assert.ok(line.client === undefined || isIP(line.client) > 0, `no address: ${line.client}`);
    const { constraint = '', ...others } = line;
    assert.match(constraint, /^[ -~]*$/);
    assertNothingConfidential(
      JSON.stringify({ ...others, id: '', route: '', client: '', reason: '', err: {} }),
    );
  }
}
