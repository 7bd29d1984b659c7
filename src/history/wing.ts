import type { Wing } from '../wing.ts';
import { openHistory } from './open-history.ts';
import { serveHistory } from './routes.ts';

/** The log of changes, and what restores books from it. */
export const historyWing: Wing = {
  verify: async (client, { historyDays }) =>
    void (await (
      await import('./postgres/preparation.ts')
    ).verifyRecording(client, historyDays !== undefined)),
  async open(connection, { historyDays }, observer) {
    const history = await openHistory(connection, historyDays, observer);
    return (
      history && {
        lost: history.lost,
        serve: (core) => serveHistory(core, history),
        [Symbol.asyncDispose]: () => history[Symbol.asyncDispose](),
      }
    );
  },
};
