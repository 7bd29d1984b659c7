import { openConnection } from '../../store/sqlite/files/connection.ts';
import { serveRequests } from '../../store/sqlite/threads/thread-client.ts';
import { SearchIndex } from './search-index.ts';

/** Each request continues to build the index, and the response says whether it is complete. */
await serveRequests<void, boolean>(async (path) => {
  const database = await openConnection(path);
  const index = new SearchIndex(database);
  return { handle: () => index.build(), close: () => database.close() };
});
