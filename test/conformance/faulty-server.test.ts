import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type FaultyServer, startFaultyServer } from '../../conformance/faulty/server.ts';
import { type Violation, violations } from '../../conformance/faulty/violations.ts';
import { registerRules } from '../../conformance/register.ts';
import { nameOf } from '../../conformance/rule.ts';
import { rules } from '../../conformance/rules.ts';
import { checkRule } from '../../conformance/run.ts';
import { Service } from '../../conformance/service.ts';
import { CREDENTIALS } from './credentials.ts';

describe('a server that meets the contract passes every rule', () => {
  let server: FaultyServer;
  registerRules(rules, async () => {
    server = await startFaultyServer(CREDENTIALS);
    return { ...CREDENTIALS, url: server.url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  });

  test('the rules send few wrong logins, so that none is throttled', () => {
    assert.ok(server.wrongLogins < 10, `${server.wrongLogins} wrong logins`);
  });
});

describe('a server that violates the contract fails the rules that state it', { concurrency: 4 }, () => {
  for (const violation of Object.keys(violations) as Violation[]) {
    test(violation, async () => {
      const broken: ReadonlySet<string> = new Set(violations[violation]);
      await using server = await startFaultyServer(CREDENTIALS, violation);
      await using service = await Service.open({ ...CREDENTIALS, url: server.url, timeoutMs: 1000 });
      const failed: string[] = [];
      for (const rule of rules.filter((each) => broken.has(nameOf(each)))) {
        const result = await checkRule(service, rule);
        if (result.outcome !== 'fail') continue;
        assert.doesNotMatch(result.reason, /the rule itself failed/);
        failed.push(nameOf(rule));
      }
      assert.deepEqual(failed.toSorted(), [...broken].toSorted());
    });
  }
});

describe('the list of rules', () => {
  test('every rule can fail', () => {
    const canFail = new Set<string>(Object.values(violations).flat());
    assert.deepEqual(
      rules.map(nameOf).filter((name) => !canFail.has(name)),
      [],
    );
  });

  test('no two rules have the same name', () => {
    const names = rules.map(nameOf);
    assert.equal(new Set(names).size, names.length);
  });
});
