import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { PageRow } from '../../page.ts';
import { toStoreError } from '../errors.ts';
import { openConnection } from '../files/connection.ts';
import { SELECT_PAGE } from '../sql.ts';
import { type RequestHandler, serveRequests } from './worker-client.ts';

/** A page that is asked for: of up to `limit` books behind `after`. */
export interface PageRequest {
  readonly after: number;
  readonly limit: number;
}

/** The thread that renders pages of the list. */
class Reader implements RequestHandler<PageRequest, PageRow> {
  readonly #database: DatabaseSync;
  readonly #selectPage: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#selectPage = database.prepare(SELECT_PAGE);
  }

  handle({ after, limit }: PageRequest): PageRow {
    try {
      return this.#selectPage.get({ after, limit }) as unknown as PageRow;
    } catch (error) {
      throw toStoreError(error);
    }
  }

  transfer({ json }: PageRow): ArrayBuffer[] {
    return json ? [json.buffer as ArrayBuffer] : [];
  }

  close(): void {
    this.#database.close();
  }
}

await serveRequests(async (path) => new Reader(await openConnection(path)));
