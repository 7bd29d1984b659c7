import { Random } from '../campaigns/random.ts';
import { BOOKS, makeBooks } from './books.ts';

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

/** The most books of a page and of a search. */
export const PAGE = 100;

/** The number of distinct requests, except for DELETE. */
const REQUESTS = 10_000;

/** More than any service reaches, because a book can be deleted only once. */
const DELETES_PER_SECOND_MAX = 50_000;

const defaultBooks = () => BOOKS;

/** All workloads, by their names on the command line. */
export const workloads = {
  get: { title: 'GET one', writes: false, books: defaultBooks, requests: gets },
  list: { title: 'GET /books', writes: false, books: defaultBooks, requests: () => ['GET /books'] },
  page: { title: 'a page', writes: false, books: defaultBooks, requests: pages },
  search: { title: 'a search', writes: false, books: defaultBooks, requests: searches },
  post: { title: 'POST', writes: true, books: defaultBooks, requests: posts },
  put: { title: 'PUT', writes: true, books: defaultBooks, requests: puts },
  delete: {
    title: 'DELETE',
    writes: true,
    books: (seconds) => seconds * DELETES_PER_SECOND_MAX,
    requests: (books) => Array.from({ length: books }, (_, index) => `DELETE /book/${index + 1}`),
  },
} as const satisfies Record<string, Workload>;

export type WorkloadName = keyof typeof workloads;

export const WRITE_WORKLOADS = ['post', 'put', 'delete'] as const;

export const WORKLOAD_NAMES = Object.keys(workloads) as WorkloadName[];

function gets(books: number): string[] {
  return randomIds(books, 1).map((id) => `GET /book/${id}`);
}

/** The path of the page that begins at this id. */
export function pagePath(id: number): string {
  return `/books?from=${id}&limit=${PAGE}`;
}

/** The path of a search for a part of a title. */
export function searchPath(part: string): string {
  return `/books?title=${encodeURIComponent(part)}&limit=${PAGE}`;
}

function pages(books: number): string[] {
  return randomIds(books - PAGE, 6).map((id) => `GET ${pagePath(id)}`);
}

/** For the titles of random books, in lower case: most are different. */
function searches(books: number): string[] {
  const titles = makeBooks(BOOKS, 0).map(({ title }) => title.toLowerCase());
  return randomIds(books, 7).map((id) => `GET ${searchPath(titles[id - 1] ?? '')}`);
}

function posts(): string[] {
  return bodies(2).map((body) => `POST /book ${body}`);
}

function puts(books: number): string[] {
  const ids = randomIds(books, 3);
  return bodies(4).map((body, index) => `PUT /book/${ids[index]} ${body}`);
}

function randomIds(books: number, seed: number): number[] {
  const random = new Random(seed);
  return Array.from({ length: REQUESTS }, () => 1 + random.below(books));
}

function bodies(seed: number): string[] {
  return makeBooks(REQUESTS, seed).map((book) => JSON.stringify(book));
}
