import { after, before, test } from 'node:test';
import { nameOf, type Rule } from './rule.ts';
import { checkRule } from './run.ts';
import { Service, type ServiceOptions } from './service.ts';

/**
 * Registers a test for each of these rules, all against one service. Call it inside a suite.
 *
 * @param start starts the service, which is disposed of after the last rule
 */
export function registerRules(
  rules: readonly Rule[],
  start: () => Promise<ServiceOptions & AsyncDisposable>,
): void {
  const resources = new AsyncDisposableStack();
  let service: Service;
  before(async () => {
    service = resources.use(await Service.open(resources.use(await start())));
  });
  after(() => resources.disposeAsync());

  for (const rule of rules) {
    test(nameOf(rule), async (context) => {
      const result = await checkRule(service, rule);
      if (result.outcome === 'skipped') context.skip(result.reason);
      if (result.outcome === 'fail') throw new Error(result.reason);
    });
  }
}
