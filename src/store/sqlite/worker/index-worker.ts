import { openConnection } from '../files/connection.ts';
import { SearchIndex } from '../search/search-index.ts';
import { serveRequests } from './worker-client.ts';

/** Each request continues to build the index, and the response says whether it is complete. */
await serveRequests<void, boolean>(async (path) => {
  const database = await openConnection(path);
  const index = new SearchIndex(database);
  return { handle: () => index.build(), close: () => database.close() };
});
