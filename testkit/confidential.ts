import assert from 'node:assert/strict';

/** Patterns of confidential data, which no response or log line may have. */
const PATTERNS: Readonly<Record<string, RegExp>> = {
  'a token': /eyJ[\w-]+\.[\w-]*/,
  SQL: /\b(?:select\s.*\sfrom|insert\s+into|update\s.*\sset|delete\s+from|create\s+table|pragma)\b/i,
  'a driver message':
    /sqlite|postgres|relation "|column "|constraint|syntax error|E(?:CONN|PIPE|NOENT)|0A000/i,
  'a path': /file:\/\/|\/(?:home|root|tmp|usr|var|etc|work|src|node_modules)\/|\w\.(?:ts|js|mjs|db|env)\b/,
  'a stack': /\bat \S+ \(|\bnode:\w+/,
};

/** Asserts that a text has no token, SQL, driver message, path or stack. */
export function assertNothingConfidential(text: string): void {
  for (const [what, pattern] of Object.entries(PATTERNS)) {
    assert.ok(!pattern.test(text), `the text has ${what}: ${text.slice(0, 1_000)}`);
  }
}
