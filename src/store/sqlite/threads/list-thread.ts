import type { ListPage } from '../../../book/book-store.ts';
import type { PageRequest } from '../../page.ts';
import { openConnection } from '../files/connection.ts';
import { preparePages } from '../pages.ts';
import { serveRequests } from './thread-server.ts';

await serveRequests<readonly PageRequest[], readonly ListPage[]>(async (path) => {
  const database = await openConnection(path);
  const readPage = preparePages(database);
  return {
    handle: (requests) => requests.map(readPage),
    transfer: (pages) => pages.map(({ json }) => json.buffer as ArrayBuffer),
    close: () => database.close(),
  };
});
