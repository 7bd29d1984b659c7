import { Random } from '../campaigns/random.ts';
import { BOOKS, makeBooks } from './books.ts';
import { PASSWORD, USERNAME } from './services/credentials.ts';

/** Requests that clients repeat. */
interface Workload {
  readonly title: string;
  /** Whether it changes the books. */
  readonly writes: boolean;
  /** The number of books, with ids from 1, for a measurement of `seconds`. */
  books(seconds: number): number;
  /** The requests in order, `METHOD PATH [BODY]`. */
  requests(books: number): string[];
}

/** The number of distinct requests, except for DELETE. */
const REQUESTS = 10_000;

/** More than any service reaches, because a book can be deleted only once. */
const DELETES_PER_SECOND_MAX = 80_000;

const defaultBooks = () => BOOKS;

/** All workloads, by their names on the command line. */
export const workloads = {
  get: {
    title: 'GET one',
    writes: false,
    books: defaultBooks,
    requests: gets,
  },
  list: {
    title: 'GET /books',
    writes: false,
    books: defaultBooks,
    requests: () => ['GET /books'],
  },
  token: {
    title: 'POST /token',
    writes: false,
    books: defaultBooks,
    requests: () => [`POST /token ${JSON.stringify({ username: USERNAME, password: PASSWORD })}`],
  },
  post: {
    title: 'POST',
    writes: true,
    books: defaultBooks,
    requests: posts,
  },
  put: {
    title: 'PUT',
    writes: true,
    books: defaultBooks,
    requests: puts,
  },
  delete: {
    title: 'DELETE',
    writes: true,
    books: (seconds) => seconds * DELETES_PER_SECOND_MAX,
    requests: (books) => Array.from({ length: books }, (_, index) => `DELETE /book/${index + 1}`),
  },
  mix: {
    title: 'Mix (80 % GET one, 15 % POST, 5 % PUT)',
    writes: true,
    books: defaultBooks,
    requests: mixed,
  },
} as const satisfies Record<string, Workload>;

export type WorkloadName = keyof typeof workloads;

export const WORKLOAD_NAMES = Object.keys(workloads) as WorkloadName[];

/** Those that the peers and all numbers of connections are measured with. */
export const PEER_WORKLOADS: readonly WorkloadName[] = ['get', 'list', 'post', 'put', 'delete'];

function gets(books: number): string[] {
  return randomIds(books, 1).map((id) => `GET /book/${id}`);
}

function posts(): string[] {
  return bodies(2).map((body) => `POST /book ${body}`);
}

function puts(books: number): string[] {
  const ids = randomIds(books, 3);
  return bodies(4).map((body, index) => `PUT /book/${ids[index]} ${body}`);
}

function mixed(books: number): string[] {
  const random = new Random(5);
  const kinds = [gets(books), posts(), puts(books)] as const;
  return Array.from({ length: REQUESTS }, (_, index) => {
    const chance = random.next();
    const kind = chance < 0.8 ? 0 : chance < 0.95 ? 1 : 2;
    return kinds[kind][index] ?? '';
  });
}

function randomIds(books: number, seed: number): number[] {
  const random = new Random(seed);
  return Array.from({ length: REQUESTS }, () => 1 + random.below(books));
}

function bodies(seed: number): string[] {
  return makeBooks(REQUESTS, seed).map((book) => JSON.stringify(book));
}
