import type { BookPage } from '../../../book/book-store.ts';
import type { PageRequest } from '../../page.ts';
import { openConnection } from '../files/connection.ts';
import { preparePages } from '../pages.ts';
import { serveRequests } from './thread-client.ts';

await serveRequests<PageRequest, BookPage>(async (path) => {
  const database = await openConnection(path);
  return {
    handle: preparePages(database),
    transfer: ({ json }) => [json.buffer as ArrayBuffer],
    close: () => database.close(),
  };
});
