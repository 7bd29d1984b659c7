import { request } from './connection.ts';

const CHUNKED = 'Transfer-Encoding: chunked';

/** Unsupported versions of HTTP, and invalid ones. */
const VERSIONS = [
  'HTTP/0.9',
  'HTTP/1.2',
  'HTTP/2.0',
  'HTTP/3.0',
  'HTTP/1.10',
  'HTTP/01.1',
  'HTTP/1',
  'http/1.1',
  'HTTPS/1.1',
  'HTTP/1.1 ',
  'ICE/1.0',
];

/** Invalid lengths of a body of two bytes (RFC 9110, section 8.6). */
const LENGTHS = [
  '',
  'two',
  '+2',
  '-2',
  '2.0',
  '2e0',
  '0x2',
  '2_0',
  '2 2',
  '2, 2',
  '2,',
  '\x0b2',
  '99999999999999999999',
];

/** Unsupported codings, and those that parsers read differently (RFC 9112, section 6.1). */
const CODINGS = [
  '',
  'gzip',
  'gzip, chunked',
  'chunked, gzip',
  'chunked, chunked',
  'identity',
  'chunked, identity',
  'identity, chunked',
  'xchunked',
  'chunkedx',
  '"chunked"',
  'chunked;q=1',
  ',chunked',
  'chunked,',
  '\x0bchunked',
  'chunk\xe9d',
  'chunked\0',
];

/** Header lines that some parsers read and others do not. */
const HIDDEN_CODINGS = {
  'a space before its colon': 'Transfer-Encoding : chunked',
  'a tab before its colon': 'Transfer-Encoding\t: chunked',
  'a space before it': ' Transfer-Encoding: chunked',
  'a fold before it': 'Name: value\r\n Transfer-Encoding: chunked',
  'a fold in it': 'Transfer-Encoding:\r\n chunked',
  'LF alone before it': `Name: value\n${CHUNKED}`,
  'LF alone after it': `${CHUNKED}\nName: value`,
  'CR alone before it': `Name: value\r${CHUNKED}`,
  'CR alone after it': `${CHUNKED}\rName: value`,
  'U+0000 before it': `Name: value\0\r\n${CHUNKED}`,
  'U+0000 in its name': 'Transfer\0-Encoding: chunked',
};

/** Invalid hosts (RFC 9112, section 3.2). */
const HOSTS = ['a b', 'a,b', 'a/b', 'user@a', 'a?b', 'a#b', '"a"', '<a>', 'a\\b', 'ä'];

/** Requests that are not well-formed HTTP/1.0 or HTTP/1.1, by their error. Text is sent as Latin-1. */
export const MALFORMED: Readonly<Record<string, string>> = {
  words: 'good morning\r\n\r\n',
  'nothing but zeros': '\0'.repeat(64),
  'the start of TLS': '\x16\x03\x01\0\xa5\x01\0\0\xa1\x03\x03',
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'no version': 'GET /books\r\n\r\n',
  'a lower-case method': 'get /books HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'an unknown method': 'FETCH /books HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'a method of RTSP': 'ANNOUNCE /music RTSP/1.0\r\n\r\n',
  'a method of RTSP with a path of the API': 'SETUP /books RTSP/1.0\r\nHost: localhost\r\n\r\n',
  'a method of Icecast': 'SOURCE /music ICE/1.0\r\n\r\n',
  'no target': 'GET  HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'a target with a space': 'GET /book/1 or 2 HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'a target with bytes beyond ASCII': 'GET /b\xf6\xf6ks HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'a target with U+0000': 'GET /book/\0 HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'tabs in the request line': 'GET\t/books\tHTTP/1.1\r\nHost: localhost\r\n\r\n',
  'a space before the request line': ` ${request('GET /books')}`,
  'a request line that ends in LF alone': 'GET /books HTTP/1.1\nHost: localhost\r\n\r\n',
  'lines that end in LF alone': 'GET /books HTTP/1.1\nHost: localhost\n\n',
  'a header line without a colon': request('GET /books', ['nothing']),
  'a header line without a name': request('GET /books', [': nothing']),
  'a space before the colon': request('GET /books', ['Name : value']),
  'a name with a parenthesis': request('GET /books', ['Name(): value']),
  'a name beyond ASCII': request('GET /books', ['N\xe4me: value']),
  'a folded header line': request('GET /books', ['Name: value', ' continued']),
  'a header value with U+0000': request('GET /books', ['Name: \0']),
  'a header value with CR': request('GET /books', ['Name: a\rb']),
  'no Host': 'GET /books HTTP/1.1\r\n\r\n',
  'two Hosts': request('GET /books', ['Host: localhost']),
  'two lengths': request('POST /token', ['Content-Length: 2', 'Content-Length: 3']),
  'the same length twice': request('POST /token', ['Content-Length: 2', 'Content-Length: 2']),
  'a length and chunks': request('POST /token', ['Content-Length: 2', CHUNKED]),
  'chunks and a length': request('POST /token', [CHUNKED, 'Content-Length: 2']),
  'chunks, twice': request('POST /token', [CHUNKED, CHUNKED]),
  'chunks in HTTP/1.0': `POST /token HTTP/1.0\r\n${CHUNKED}\r\n\r\n`,
  ...named('the version', VERSIONS, (version) => `GET /books ${version}\r\nHost: localhost\r\n\r\n`),
  ...named('the length', LENGTHS, (length) => request('POST /token', [`Content-Length: ${length}`])),
  ...named('the coding', CODINGS, (coding) => request('POST /token', [`Transfer-Encoding: ${coding}`])),
  ...named('the Host', HOSTS, (host) => `GET /books HTTP/1.1\r\nHost: ${host}\r\n\r\n`),
  ...Object.fromEntries(
    Object.entries(HIDDEN_CODINGS).map(([how, line]) => [
      `a coding with ${how}`,
      request('POST /token', ['Content-Length: 2', line]),
    ]),
  ),
};

/** Bodies with malformed chunks. */
export const BAD_CHUNKS: Readonly<Record<string, string>> = {
  'a size that is a word': 'two\r\n{}\r\n0\r\n\r\n',
  'a size with a sign': '-2\r\n{}\r\n0\r\n\r\n',
  'a size with a plus': '+2\r\n{}\r\n0\r\n\r\n',
  'a size with 0x': '0x2\r\n{}\r\n0\r\n\r\n',
  'a size with a space before it': ' 2\r\n{}\r\n0\r\n\r\n',
  'a size with a space after it': '2 \r\n{}\r\n0\r\n\r\n',
  'a size that is too long': 'ffffffffffffffffff\r\n{}\r\n0\r\n\r\n',
  'a size that is too small': '1\r\n{}\r\n0\r\n\r\n',
  'a size that is too large': '3\r\n{}\r\n0\r\n\r\n',
  'no size': '\r\n{}\r\n0\r\n\r\n',
  'a size that ends in LF alone': '2\n{}\r\n0\r\n\r\n',
  'a size that ends in CR alone': '2\r{}\r\n0\r\n\r\n',
  'an extension that ends in LF alone': '2;name=value\n{}\r\n0\r\n\r\n',
  'an extension with U+0000': '2;na\0me\r\n{}\r\n0\r\n\r\n',
  'data that end in LF alone': '2\r\n{}\n0\r\n\r\n',
  'data that do not end': '2\r\n{}0\r\n\r\n',
  'a last chunk that ends in LF alone': '2\r\n{}\r\n0\n\n',
  'a malformed trailer': '2\r\n{}\r\n0\r\nnothing\r\n\r\n',
};

function named(
  what: string,
  texts: readonly string[],
  make: (text: string) => string,
): Record<string, string> {
  return Object.fromEntries(texts.map((text) => [`${what} ${JSON.stringify(text)}`, make(text)]));
}
