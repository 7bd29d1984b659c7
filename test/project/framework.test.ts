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
  'server.ts alone adds hooks, so that it shows the order of a request': {
    text: /\.(?:addHook|set(?:Error|NotFound)Handler|addContentTypeParser|decorate(?:Request|Reply)?)\(/,
    modules: /^src\/server\.ts$/,
    planted: [`app.addHook('onSend', f)`, 'fastify.setErrorHandler(f)'],
  },
  'server.ts alone adds routes, but for those of the files of web/': {
    text: /\bapp\s*\.(?:route|get|head|post|put|patch|delete|options|all)\(/,
    modules: /^src\/(server|web\/(static-files|console))\.ts$/,
    planted: [`app.get('/x', f)`, 'app.route({})'],
  },
  'http/ makes the responses of the results of handlers, which write no header beside them; web/ and /metrics make their own':
    {
      text: /\breply\s*\.(?:code|status|headers?|removeHeader|type|redirect|send)\(/,
      modules: /^src\/(http\/|web\/(static-files|console)\.ts$|server\.ts$)/,
      planted: [`reply.header('etag', tag)`, 'reply\n  .send({})'],
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
