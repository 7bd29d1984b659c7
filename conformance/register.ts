import { after, before, test } from 'node:test';
import { nameOf, type Rule } from './rule.ts';
import { rules } from './rules.ts';
import { tryRule } from './run.ts';
import { Service, type ServiceOptions } from './service.ts';

/**
 * Makes one test of each rule, all against one service. To be called inside a suite.
 *
 * @param start starts the service; what it returns is disposed of after the last rule
 */
export function registerRules(
  start: () => Promise<ServiceOptions & AsyncDisposable>,
  chosen: readonly Rule[] = rules,
): void {
  const resources = new AsyncDisposableStack();
  let service: Service;
  before(async () => {
    service = resources.use(await Service.open(resources.use(await start())));
  });
  after(() => resources.disposeAsync());

  for (const rule of chosen) {
    test(nameOf(rule), async (context) => {
      const result = await tryRule(service, rule);
      if (result.outcome === 'not tried') context.skip(result.reason);
      if (result.outcome === 'fail') throw new Error(result.reason);
    });
  }
}
