import { Client } from 'pg';
import { readPeakMemoryBytes, resetPeakMemory } from '../../bench/services/usage.ts';
import { makeToken } from '../../conformance/tokens.ts';
import { BookClient } from '../book-client.ts';
import { Loops } from '../loops.ts';
import type { Trial } from '../trial.ts';

const CLIENTS = 8;
const MEBIBYTE = 1_024 * 1_024;

const FIELDS = { title: 'A title of a book as long as usual', author: 'Author Of Books', year: 1999 };
const BOOK = 'id, title, author, year';

type Send<Sender> = (sender: Sender, id: number) => Promise<unknown>;

/** The requests that are measured, each next to a single statement that does the same. */
const KINDS: Readonly<Record<string, readonly [Send<Client>, Send<BookClient>]>> = {
  POST: [
    single(
      `insert into books (title, author, year) values ($2, $3, $4) returning ${BOOK}, $1::bigint`,
      FIELDS,
    ),
    (client) => client.perform({ kind: 'create', sent: FIELDS }),
  ],
  GET: [
    single(`select ${BOOK} from books where id = $1`),
    (client, id) => client.perform({ kind: 'find', id }),
  ],
  PUT: [
    single(`update books set title = $2, author = $3, year = $4 where id = $1 returning ${BOOK}`, FIELDS),
    (client, id) => client.perform({ kind: 'update', id, sent: { title: FIELDS.title, year: id } }),
  ],
  DELETE: [
    single('delete from books where id = $1 returning id'),
    (client, id) => client.perform({ kind: 'delete', id }),
  ],
};

function single(text: string, fields?: typeof FIELDS): Send<Client> {
  const others = fields ? Object.values(fields) : [];
  return (client, id) => client.query({ name: text.slice(0, 40), text, values: [id, ...others] });
}

/** How long each kind is measured in a round, and the number of rounds, which alternate with the single statements. */
export interface RateOptions {
  readonly ms: number;
  readonly rounds: number;
  readonly books: number;
}

/** Measures the rates of requests and of single statements, a second, and the whole list. The service is not empty after it. */
export async function measure(
  trial: Trial,
  dbUrl: string,
  { ms, rounds, books }: RateOptions,
): Promise<Record<string, number>> {
  await using resources = new AsyncDisposableStack();
  const clients = Array.from({ length: CLIENTS }, () => resources.use(new BookClient(trial.target)));
  const connections = clients.map(() => new Client(dbUrl));
  for (const connection of connections) {
    await connection.connect();
    resources.defer(() => connection.end());
  }
  const figures: Record<string, number> = {};
  const [first] = connections as [Client];
  const text = `insert into books (title, author, year) select $1, $2, number from generate_series(1, ${books}) as number`;
  await first.query(text, [FIELDS.title, FIELDS.author]);
  const { rows } = await first.query<{ first: string }>('select min(id) as first from books');
  const lowest = Number(rows[0]?.first);
  const anyId = () => lowest + Math.floor(Math.random() * books);

  Object.assign(figures, await measureList(trial));
  for (const [kind, [statement, request]] of Object.entries(KINDS)) {
    const sums = { statements: 0, requests: 0 };
    for (let round = 0; round < rounds; round++) {
      sums.statements += await count(connections, (connection) => statement(connection, anyId()), ms);
      sums.requests += await count(clients, (client) => request(client, anyId()), ms);
      // A connection that is silent for long counts as broken.
      for (const client of clients) client.disconnect();
    }
    const perSecond = (sum: number) => Math.round((sum * 1_000) / (ms * rounds));
    figures[`${kind} a second, ${CLIENTS} clients`] = perSecond(sums.requests);
    figures[`single statements for ${kind} a second`] = perSecond(sums.statements);
  }
  return figures;
}

/** Streams the whole list. */
async function measureList({ target, service }: Trial): Promise<Record<string, number>> {
  resetPeakMemory(service.pid);
  const started = performance.now();
  const headers = { Authorization: makeToken(target.secret, {}) };
  const response = await fetch(`http://127.0.0.1:${target.port}/books`, { headers });
  const { data } = (await response.json()) as { data: unknown[] };
  return {
    'GET /books, books': data.length,
    'GET /books, ms': Math.round(performance.now() - started),
    'GET /books, peak memory of the service, MiB': Math.round(readPeakMemoryBytes(service.pid) / MEBIBYTE),
  };
}

/** @returns how many calls all senders complete in this time */
async function count<Sender>(
  senders: readonly Sender[],
  send: (sender: Sender) => Promise<unknown>,
  ms: number,
): Promise<number> {
  let sent = 0;
  const loops = new Loops(
    senders.map((sender) => async (signal) => {
      for (; !signal.aborted; sent++) await send(sender);
    }),
  );
  await loops.run(ms);
  const counted = sent;
  await loops.stop();
  return counted;
}
