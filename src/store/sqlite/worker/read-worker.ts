import type { ChangePage, ChangeRequest } from '../../../book/book-history.ts';
import type { PageRow } from '../../page.ts';
import { openConnection } from '../files/connection.ts';
import { createChangeReader } from '../history.ts';
import { SELECT_PAGE } from '../sql.ts';
import { serveRequests } from './worker-client.ts';

export interface PageRequest {
  readonly after: number;
  readonly limit: number;
}

await serveRequests<PageRequest | { readonly changes: ChangeRequest }, PageRow | ChangePage>(async (path) => {
  const database = await openConnection(path);
  const selectPage = database.prepare(SELECT_PAGE);
  const readChanges = createChangeReader(database);
  return {
    handle: (request) =>
      'changes' in request
        ? readChanges(request.changes)
        : (selectPage.get({ ...request }) as unknown as PageRow),
    transfer: (response) =>
      'json' in response && response.json ? [response.json.buffer as ArrayBuffer] : [],
    close: () => database.close(),
  };
});
