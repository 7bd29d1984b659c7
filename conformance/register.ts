import { after, before, test } from 'node:test';
import { nameOf } from './rule.ts';
import { rules } from './rules.ts';
import { checkRule } from './run.ts';
import { Service, type ServiceOptions } from './service.ts';

/**
 * Registers a test for each rule, all against one service. Call it inside a suite.
 *
 * @param start starts the service, which is disposed of after the last rule
 */
export function registerRules(start: () => Promise<ServiceOptions & AsyncDisposable>): void {
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
