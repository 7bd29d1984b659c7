import { BODY_BYTES_MAX, LOGIN_BYTES_MAX } from '../../src/http/body-limits.ts';
import { request } from '../../testkit/connection.ts';
import { LOGIN } from '../../testkit/service.ts';

/** An attack that keeps a service waiting. */
export interface Attack {
  /** The number of clients, in the long form. */
  readonly clients: number;
  /** The bytes that each sends first, one a character. */
  readonly start: string;
  /** The bytes that it sends every second afterwards. */
  readonly repeated?: string;
  /** Whether all connect at once, and not as the backlog of the operating system allows on any machine. */
  readonly isSudden?: boolean;
  /** Whether it reads more than the beginning of the response. */
  readonly reads: boolean;
  /** The time limit that closes its connection. */
  readonly limit: 'headers' | 'request' | 'stall';
}

const ONE_BYTE = '1\r\n \r\n';

/** Of all long books, by the index. */
export const SEARCH_PATH = '/books?title=XX&sort=-author&count=true';

/** All attacks by name. @param authorization the header line with a token */
export function attacksWith(authorization: string): Readonly<Record<string, Attack>> {
  return {
    'idle connections': { clients: 5_000, start: '', reads: true, limit: 'headers' },
    'slow headers': {
      clients: 1_000,
      start: 'GET /books HTTP/1.1\r\nHost: localhost\r\n',
      repeated: 'Name: value\r\n',
      reads: true,
      limit: 'headers',
    },
    'slow login bodies': {
      clients: 1_000,
      start: login(LOGIN_BYTES_MAX) + LOGIN.slice(0, 5),
      repeated: 'x',
      reads: true,
      limit: 'request',
    },
    'long login bodies without the last byte': {
      clients: 400,
      start: login(LOGIN_BYTES_MAX) + ' '.repeat(LOGIN_BYTES_MAX - 1),
      reads: true,
      limit: 'request',
    },
    'login bodies in chunks of one byte': {
      clients: 20,
      start: request('POST /token', ['Transfer-Encoding: chunked']),
      repeated: ONE_BYTE.repeat(2_000),
      reads: true,
      limit: 'request',
    },
    'readers of a long list that stall': {
      clients: 200,
      start: request('GET /books', [authorization]),
      repeated: '\r\n',
      reads: false,
      limit: 'stall',
    },
    'readers of a long search that stall': {
      clients: 200,
      start: request(`GET ${SEARCH_PATH}`, [authorization]),
      repeated: '\r\n',
      reads: false,
      limit: 'stall',
    },
    'endless requests whose responses are not read': {
      clients: 20,
      start: request('GET /book/1', [authorization]).repeat(500),
      repeated: '\r\n',
      reads: false,
      limit: 'stall',
    },
    'requests without a token that fill one read, and whose responses are not read': {
      clients: 150,
      start: `${request('GET /openapi.json').repeat(40)}${'GET /a HTTP/1.1\r\nHost:\r\n\r\n'.repeat(2_450)}`,
      repeated: '\r\n',
      reads: false,
      limit: 'stall',
    },
    'pipelined requests on 400 connections at once': { ...PIPELINED, clients: 400 },
    'pipelined requests on 2,000 connections at once': { ...PIPELINED, clients: 2_000 },
    'deep JSON as login': { ...deepLogin(BODY_BYTES_MAX), clients: 100 },
    'short deep JSON as login': { ...deepLogin(LOGIN_BYTES_MAX), clients: 1_000 },
    // The parser takes 33 ms for what one read of a connection brings.
    'bodies in chunks of one byte that nobody reads, and responses that are not read': {
      clients: 8,
      start:
        request('GET /docs/swagger-ui-bundle.js', ['Transfer-Encoding: chunked']) + ONE_BYTE.repeat(60_000),
      repeated: ONE_BYTE,
      reads: false,
      limit: 'stall',
    },
  };
}

/** 100 requests for nothing. */
const PIPELINED = {
  start: 'GET /x HTTP/1.1\r\nHost:\r\n\r\n'.repeat(99) + request('GET /x', ['Connection: close']),
  repeated: '\r\n',
  isSudden: true,
  reads: false,
  limit: 'stall',
} as const;

/** @param length of the body, in bytes */
function deepLogin(length: number) {
  const start = request('POST /token', ['Connection: close'], '['.repeat(length));
  return { start, reads: true, limit: 'request' } as const;
}

function login(length: number): string {
  return request('POST /token', [`Content-Length: ${length}`]);
}
