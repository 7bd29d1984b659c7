import { BOOKS, makeBooks, seededRandom } from './books.ts';
import { PASSWORD, USERNAME } from './services/credentials.ts';

/** What clients ask for, over and over. */
export interface Workload {
  readonly title: string;
  /** Whether the books are other ones afterwards. */
  readonly writes: boolean;
  /** How many books, with the ids from 1 on, have to be there for a measurement of so many seconds. */
  books(seconds: number): number;
  /** The requests in the order in which they are sent, `METHOD PATH [BODY]`; the last is followed by the first. */
  requests(books: number): string[];
}

/** How many different requests a workload has, unless each may be sent once only. */
const REQUESTS = 10_000;

/** More than any service answers, as every book can be deleted once only. */
const DELETES_PER_SECOND_MAX = 80_000;

const always = () => BOOKS;

/** All workloads by the names that the command line knows. */
export const workloads = {
  get: {
    title: 'GET one',
    writes: false,
    books: always,
    requests: gets,
  },
  list: {
    title: 'GET /books',
    writes: false,
    books: always,
    requests: () => ['GET /books'],
  },
  token: {
    title: 'POST /token',
    writes: false,
    books: always,
    requests: () => [`POST /token ${JSON.stringify({ username: USERNAME, password: PASSWORD })}`],
  },
  post: {
    title: 'POST',
    writes: true,
    books: always,
    requests: posts,
  },
  put: {
    title: 'PUT',
    writes: true,
    books: always,
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
    books: always,
    requests: mixed,
  },
} as const satisfies Record<string, Workload>;

export type WorkloadName = keyof typeof workloads;

export const WORKLOAD_NAMES = Object.keys(workloads) as WorkloadName[];

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
  const random = seededRandom(5);
  const kinds = [gets(books), posts(), puts(books)] as const;
  return Array.from({ length: REQUESTS }, (_, index) => {
    const chance = random();
    const kind = chance < 0.8 ? 0 : chance < 0.95 ? 1 : 2;
    return kinds[kind][index] ?? '';
  });
}

function randomIds(books: number, seed: number): number[] {
  const random = seededRandom(seed);
  return Array.from({ length: REQUESTS }, () => 1 + Math.floor(random() * books));
}

function bodies(seed: number): string[] {
  return makeBooks(REQUESTS, seed).map((book) => JSON.stringify(book));
}
