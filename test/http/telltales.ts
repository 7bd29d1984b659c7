import assert from 'node:assert/strict';

/** What shows that an answer or a log line tells what it must not, by what that is. */
const TELLTALES: Readonly<Record<string, RegExp>> = {
  'a token': /eyJ[\w-]+\.[\w-]*/,
  SQL: /\b(?:select\s.*\sfrom|insert\s+into|update\s.*\sset|delete\s+from|create\s+table|pragma)\b/i,
  'the text of a driver':
    /sqlite|postgres|relation "|column "|constraint|syntax error|E(?:CONN|PIPE|NOENT)|0A000/i,
  'a path': /file:\/\/|\/(?:home|root|tmp|usr|var|etc|work|src|node_modules)\/|\w\.(?:ts|js|mjs|db|env)\b/,
  'a place in the code': /\bat \S+ \(|\bnode:\w+/,
};

/** Asserts that a text holds no token, no SQL, no text of a driver, no path and no stack. */
export function assertTellsNothing(text: string): void {
  for (const [what, pattern] of Object.entries(TELLTALES)) {
    assert.ok(!pattern.test(text), `${what} is told: ${text.slice(0, 1_000)}`);
  }
}
