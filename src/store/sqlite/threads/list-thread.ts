import type { PageRequest, PageRow } from '../../page.ts';
import { openConnection } from '../files/connection.ts';
import { SELECT_PAGE } from '../sql.ts';
import { serveRequests } from './thread-client.ts';

await serveRequests<PageRequest, PageRow>(async (path) => {
  const database = await openConnection(path);
  const selectPage = database.prepare(SELECT_PAGE);
  return {
    handle: (request) => selectPage.get({ ...request }) as unknown as PageRow,
    transfer: ({ json }) => (json ? [json.buffer as ArrayBuffer] : []),
    close: () => database.close(),
  };
});
