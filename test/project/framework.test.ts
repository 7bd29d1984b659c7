import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listSources, readText } from './files.ts';

interface Rule {
  /** What only some modules have. */
  readonly text: RegExp;
  /** These modules, and why. */
  readonly modules: RegExp;
  /** Sources that have it. */
  readonly planted: readonly string[];
}

const RULES: Readonly<Record<string, Rule>> = {
  'http/connections/ alone sees the requests and responses of Node behind those of Fastify': {
    text: /(?<!String\.)\braw\b/,
    modules: /^src\/http\/connections\//,
    planted: ['f(reply.raw);', 'function f({ raw, params }: FastifyRequest) {}'],
  },
};

describe('Fastify is used with its grain:', () => {
  const sources = new Map(listSources().map((path) => [path, readText(path)]));
  for (const [rule, { text, modules, planted }] of Object.entries(RULES)) {
    test(rule, () => {
      const users = [...sources.keys()].filter((path) => text.test(sources.get(path) ?? ''));
      assert.deepEqual(
        users.filter((path) => !modules.test(path)),
        [],
      );
      assert.ok(users.length > 0);
      for (const source of planted) assert.match(source, text);
    });
  }
});
