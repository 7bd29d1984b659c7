/**
 * Realistic violations of the contract, each with the names of the rules that must fail when the faulty server is started
 * with it. Every rule is listed at least once: none always passes.
 */
export const violations = {
  // The envelope
  'data is missing on errors': [
    'POST /token: 400 Invalid request payload when the body is empty or not JSON',
    'GET /book/{id}: 404 Book not found when there is no such book',
    'Authentication: 401 Authorization token required when the header is absent',
    'HTTP: 404 Not found when there is no such path; paths are exact, and no token is needed',
  ],
  'the status in the envelope is always 200': [
    'POST /book: 201 Book created successfully otherwise; data is the stored Book',
    'POST /token: 401 Invalid credentials when the password does not match',
  ],
  'a message is off by one letter': [
    'GET /book/{id}: 404 Book not found when there is no such book',
    'PUT /book/{id}: 404 Book not found, also when the body is invalid',
    'DELETE /book/{id}: 200 Book deleted successfully, data null; reading the same id gives 404',
  ],
  'the envelope has a fourth key': [
    'POST /token: 200 Token generated successfully otherwise; data has only the token',
    'GET /books: 200 Books retrieved successfully; data has every stored book',
  ],
  'the keys of the envelope are sorted': [
    'HTTP: keys are in this order: status, message, data; id, title, author, year',
  ],
  'responses are text/html': ['GET /books: 200 Books retrieved successfully; data has every stored book'],

  // Idempotency keys
  'the author is not part of a keyed create': [
    'Idempotency keys: 422 Idempotency key reused when one field alone differs, and nothing is stored',
  ],
  'a repeat gets the book as it is now': [
    'Idempotency keys: POST /book: a repeat with the same key gets the book of the first time, also after it was changed',
  ],

  // POST /token
  'any username is accepted': ['POST /token: 401 Invalid credentials when the username does not match'],
  'any password is accepted': ['POST /token: 401 Invalid credentials when the password does not match'],
  'failed logins are 403': [
    'POST /token: 401 Invalid credentials when the password does not match',
    'POST /token: 401 Invalid credentials when the username does not match',
    'Reading a body: a field absent in POST /token is "": 401 Invalid credentials',
  ],
  'an invalid login body is 401': [
    'POST /token: 400 Invalid request payload when the body is empty or not JSON',
    'POST /token: 400 Invalid request payload when the body is JSON but not an object',
    'POST /token: 400 Invalid request payload when username or password is not a string',
  ],
  'POST /token needs a token': ['POST /token: needs no token, and ignores the header Authorization'],
  'data has a token type': [
    'POST /token: 200 Token generated successfully otherwise; data has only the token',
  ],
  'a token expires after an hour': ['Limits: a token expires 15 minutes after issue; exp is in Unix seconds'],
  'exp is in milliseconds': ['Limits: a token expires 15 minutes after issue; exp is in Unix seconds'],
  'a token has a second claim': ['Authentication: a token has one claim, exp'],
  'tokens are signed with HS512': ['Authentication: a token is signed with HS256'],
  'tokens are signed with another secret': ['Authentication: an issued token is signed with SECRET_TOKEN'],

  // Books
  'POST returns 200': [
    'What the service does: a body that arrives in pieces is read completely',
    'POST /book: 201 Book created successfully otherwise; data is the stored Book',
  ],
  'created books are not stored': [
    'POST /book: 201 Book created successfully otherwise; data is the stored Book',
    'GET /book/{id}: 200 Book retrieved successfully otherwise; data is the Book',
  ],
  'equal books share an id': ['POST /book: every book gets a distinct id'],
  'a book has a fifth field': ['GET /book/{id}: 200 Book retrieved successfully otherwise; data is the Book'],
  'text is trimmed': ['POST /book: text is stored unchanged'],
  'the id of a body is used': [
    'Ids: the id in a body is ignored: the store assigns it in POST, the path names it in PUT',
  ],
  'an id is reused': ['Ids: an id is never reused, even after its book was deleted'],
  'concurrent creates share an id': ['Ids: books created concurrently get distinct ids'],
  'GET /books is null when empty': ['Lists: data is an array, [] without books'],
  'GET /books has the newest first': ['Lists: books are ordered by id'],
  'GET /books has ten books at most': [
    'Lists: a book that exists during the whole request appears exactly once, while others are created and deleted',
  ],
  'the next page leaves out a book': [
    'Lists: a walk of pages of any size gives each book once, in order of id; no page has more than limit',
  ],
  'the next page begins with the last book': [
    'Lists: a walk of pages of any size gives each book once, in order of id; no page has more than limit',
  ],
  'a page has one book too many': [
    'Lists: a walk of pages of any size gives each book once, in order of id; no page has more than limit',
  ],
  'the last page has a Link': ['Lists: a page that ends with the last book has no Link'],
  'GET /books omits the newest book': [
    'GET /books: 200 Books retrieved successfully; data has every stored book',
  ],
  'GET /books has deleted books': ['GET /books: shows updates, and no deleted books'],
  'PUT replaces absent fields': [
    'PUT /book/{id}: a field absent from the body keeps its stored value',
    'Reading a body: {} in PUT is 200 and changes nothing',
  ],
  'PUT skips "" and 0': ['PUT /book/{id}: a field that is present is stored, also when it is "" or 0'],
  'PUT reads, waits and writes': ['PUT /book/{id}: concurrent updates of different fields are all kept'],
  'PUT returns the book before the update': [
    'PUT /book/{id}: 200 Book updated successfully otherwise; data is the updated Book',
  ],
  'PUT changes every book': ['PUT /book/{id}: changes no other book'],
  'PUT checks the body before the book': [
    'PUT /book/{id}: 404 Book not found, also when the body is invalid',
  ],
  'PUT checks the size before the book': ['HTTP: 404 Book not found comes before 413'],
  'DELETE hides the book from the list only': [
    'DELETE /book/{id}: 200 Book deleted successfully, data null; reading the same id gives 404',
    'Ids: 404 Book not found when DELETE finds no book',
  ],
  'DELETE of an absent book is 200': [
    'Ids: 404 Book not found when DELETE finds no book',
    'Ids: of several concurrent DELETEs exactly one succeeds',
  ],
  'DELETE returns the book': [
    'DELETE /book/{id}: 200 Book deleted successfully, data null; reading the same id gives 404',
  ],
  'DELETE deletes every book': ['DELETE /book/{id}: deletes no other book'],
  'DELETE needs a body when there is a Content-Type': [
    'DELETE /book/{id}: needs no body, whatever Content-Type announces',
  ],
  'ids are parsed leniently': [
    'Ids: 404 Book not found when {id} is not digits alone, also when a lenient parser would find a book',
  ],
  'ids are truncated to 64 bits': ['Ids: 404 Book not found when {id} is larger than any id'],
  'ids have no leading zeros': ['Ids: an {id} may have leading zeros'],

  // Bodies
  'the last piece of a body is lost': [
    'What the service does: a body that arrives in pieces is read completely',
    'What the service does: a chunked body is read completely',
  ],
  'pieces are decoded separately': ['What the service does: a character split between two pieces is kept'],
  '100 Continue never comes': [
    'What the service does: a client that expects 100 Continue gets it, and then its response',
  ],
  'escapes in field names are not decoded': ['POST /book: escapes in JSON are decoded'],
  'a trailing comma is accepted': ['Reading a body: 400 when the JSON is malformed'],
  'null is an empty object': ['Reading a body: 400 when the body is null'],
  'null counts as absent': ['Reading a body: 400 when a known field is null'],
  'year may be a string': [
    'POST /book: 400 Invalid input when the body cannot be read as a Book',
    'PUT /book/{id}: 400 Invalid input when the body cannot be read as a Book',
  ],
  'fractions of a year are truncated': [
    'POST /book: 400 Invalid input when the body cannot be read as a Book',
    'Reading a body: 400 when year is not an integer within ±9007199254740991',
  ],
  'fractions of a year are lost in reading': [
    'Reading a body: 400 when year is not an integer within ±9007199254740991',
  ],
  'years beyond 2^53 are rounded': [
    'Reading a body: 400 when year is not an integer within ±9007199254740991',
  ],
  'years have 32 bits': ['Reading a body: year may be as large as ±9007199254740991'],
  '1999.0 is no integer': [
    'Reading a body: an integer may be written with fraction and exponent: 1999.0, 1.999e3',
  ],
  'U+0000 and lone surrogates are kept': [
    'Reading a body: 400 when a string holds U+0000 or a lone surrogate',
  ],
  'texts have any length': [
    'Reading a body: 400 when title or author has more than 4,096 characters, and 4,096 are stored',
  ],
  'bodies are nested to any depth': [
    'Reading a body: 400 when arrays and objects are nested deeper than 64, and 64 are accepted; brackets in strings do not count',
  ],
  '64 levels of nesting are too many': [
    'Reading a body: 400 when arrays and objects are nested deeper than 64, and 64 are accepted; brackets in strings do not count',
  ],
  'brackets in strings count as nesting': [
    'Reading a body: 400 when arrays and objects are nested deeper than 64, and 64 are accepted; brackets in strings do not count',
  ],
  'unknown fields are rejected': [
    'Reading a body: 400 when arrays and objects are nested deeper than 64, and 64 are accepted; brackets in strings do not count',
    'Reading a body: an unknown field is ignored, whatever its value, and never returned',
  ],
  'field names count in lower case only': ['Reading a body: field names are case-insensitive'],
  'the first of two fields counts': [
    'Reading a body: of duplicate fields the last one counts, also when their case differs',
  ],
  'fields of POST are required': ['Reading a body: a field absent in POST /book is "" or 0: {} is 201'],
  'text after the JSON value is ignored': ['Reading a body: 400 when text follows the JSON value'],
  'a byte-order mark is skipped': ['Reading a body: 400 when a byte-order mark precedes the JSON value'],
  'bytes that are not UTF-8 are replaced': ['Reading a body: 400 when the bytes are not UTF-8'],
  'Content-Type must be JSON': ['Reading a body: the body is read as JSON, whatever the Content-Type'],
  'Content-Encoding is ignored': [
    'Reading a body: 400 when Content-Encoding is other than identity, compressed or not',
  ],
  'every Content-Encoding is rejected': ['Reading a body: Content-Encoding: identity is accepted'],
  'a bad body in PUT still changes the book': ['Reading a body: a 400 never changes the store'],

  // Tokens
  'GET /books needs no token': [
    'Authentication: 401 Authorization token required when the header is absent',
    'Authentication: 401 Invalid token when the token does not parse',
  ],
  'an empty Authorization is an invalid token': [
    'Authentication: 401 Authorization token required when the header is empty',
  ],
  'a word before the token is skipped': [
    'Authentication: 401 Invalid token when a scheme precedes the token',
  ],
  'a token works once': ['Authentication: a token can be used repeatedly, and together with others'],
  'only issued tokens are accepted': [
    'Authentication: a token that was signed elsewhere with the secret is accepted',
  ],
  'the signature is not checked': [
    'Authentication: 401 Invalid token when the signature does not verify',
    'Authentication: 401 Invalid token when it is signed with another secret',
    'Authentication: 401 Invalid token when the header names another HMAC algorithm than the signature has',
  ],
  'alg none is accepted': ['Authentication: 401 Invalid token when the algorithm is not an HMAC one'],
  'RS256 is verified with the secret as key': [
    'Authentication: 401 Invalid token when the header names no HMAC algorithm, though it is signed with the secret',
  ],
  'the header of a token is ignored': [
    'Authentication: 401 Invalid token when header or payload is not JSON',
  ],
  'expired tokens are accepted': ['Authentication: 401 Invalid token when it has expired'],
  'tokens get a minute of leeway': [
    'Authentication: 401 Invalid token when it has expired',
    'Tokens: 401 Invalid token from the second of exp on, without leeway',
  ],
  'a token lives through the second of exp': [
    'Tokens: 401 Invalid token from the second of exp on, without leeway',
  ],
  'only HS256 is accepted': ['Authentication: every HMAC algorithm is accepted: HS256, HS384, HS512'],
  'exp is required': ['Tokens: a token without exp is accepted'],
  'exp may be a string': ['Tokens: 401 Invalid token when exp is not a number'],
  'nbf is ignored': [
    'Tokens: 401 Invalid token when nbf is in the future',
    'Tokens: 401 Invalid token when nbf is not a number',
  ],
  'nbf is rejected': ['Tokens: nbf in the past is accepted'],
  'unknown claims are rejected': ['Tokens: unknown claims and header members are ignored'],
  'crit is ignored': [
    'Tokens: 401 Invalid token when crit names an unknown extension, or is not a list of names',
  ],
  'a payload that is no object has no claims': [
    'Tokens: 401 Invalid token when the payload is not an object',
  ],
  'base64url is read leniently': [
    'Tokens: 401 Invalid token when a signed segment is not canonical base64url',
    'Tokens: 401 Invalid token when the signature is not canonical base64url',
  ],
  'the token is checked after the book': [
    'Authentication: the token is checked before the book and the body',
    'Ids: the token is checked before {id}',
  ],
  'the token is checked after the body': ['HTTP: 401 comes before 413, and before the body is sent'],
  'DELETE runs without a valid token': ['Authentication: nothing is changed without a valid token'],
  'a read-only token has a third claim': [
    'Read-only tokens: POST /token with "scope": "read" issues a token with the claims exp and scope',
  ],
  'any scope of a login is accepted': [
    'Read-only tokens: 400 Invalid request payload when the scope of POST /token is not "read"',
  ],
  'a read-only token is for GET alone': ['Read-only tokens: GET and HEAD are accepted'],
  'a read-only token may delete': [
    'Read-only tokens: 403 Read-only token for anything else, before the book and the body; nothing is changed',
  ],
  'any scope is read-only': ['Read-only tokens: a scope other than "read" means nothing'],

  // Renewed tokens
  'a renewed token expires after an hour': [
    'Renewed tokens: 200 Token generated successfully with a token for 15 minutes, with the claims exp and auth_time, that of the sign-in',
  ],
  'a renewal counts as a sign-in': [
    'Renewed tokens: a token is renewed for 12 hours after the time in auth_time, which stays',
  ],
  'a renewed token may do everything': ['Renewed tokens: a renewed token has the scope of the former one'],
  'a renewal needs a body': ['Renewed tokens: the body is ignored'],
  'any token is renewed': [
    'Renewed tokens: 401 without a token, and with an invalid one',
    'Renewed tokens: 401 Invalid token when the token has expired',
  ],
  'renewed tokens are cached': ['Renewed tokens: Cache-Control is no-store'],
  'tokens are renewed for an hour': [
    'Renewed tokens: a token is renewed for 12 hours after the time in auth_time, which stays',
  ],
  'tokens are renewed without end': ['Renewed tokens: 401 Invalid token when the sign-in was 12 hours ago'],
  'a token without exp is renewed': [
    'Renewed tokens: 401 Invalid token when the token has no exp, or an auth_time that is not a number',
  ],
  'any auth_time is accepted': [
    'Renewed tokens: 401 Invalid token when the token has no exp, or an auth_time that is not a number',
  ],

  // Many books
  'PATCH returns the books in order of id': [
    'Many books: PATCH /books: 200 Books updated successfully; data is the books in the order of the request, null for deleted ones',
  ],
  'PATCH accepts an id twice': [
    'Many books: 400 Invalid input when a change is invalid or an id occurs twice; Invalid-Index has its index, and nothing is changed',
  ],
  'PATCH changes the books before the fault': [
    'Many books: 404 Book not found when there is no book; Invalid-Index has its index, and nothing is changed',
    'Many books: 412 Precondition failed when the book has none of the entity tags in ifMatch, as for a weak tag; nothing is changed',
  ],
  'PATCH skips absent books': [
    'Many books: 404 Book not found when there is no book; Invalid-Index has its index, and nothing is changed',
  ],
  'PATCH ignores ifMatch': [
    'Many books: 412 Precondition failed when the book has none of the entity tags in ifMatch, as for a weak tag; nothing is changed',
  ],
  'PATCH checks all books before the tags': [
    'Many books: an invalid change comes before an absent book; of 404 and 412, the first element decides',
  ],

  // HTTP
  'an unknown path gets plain text': [
    'HTTP: 404 Not found when there is no such path; paths are exact, and no token is needed',
  ],
  'a slash at the end of a path is ignored': [
    'HTTP: 404 Not found when there is no such path; paths are exact, and no token is needed',
  ],
  'a wrong method is 404': [
    'HTTP: 405 Method not allowed when the path exists, with Allow; no token is needed',
  ],
  '405 lists no methods': [
    'HTTP: 405 Method not allowed when the path exists, with Allow; no token is needed',
  ],
  'HEAD has content': ['HTTP: HEAD gets the same response as GET, without content'],
  'HEAD is 405': ['HTTP: HEAD gets the same response as GET, without content'],
  'a request without Host is accepted': [
    'HTTP: 400 Bad request when an HTTP/1.1 request has no Host, or two',
  ],
  'the first of two Host lines counts': [
    'HTTP: 400 Bad request when an HTTP/1.1 request has no Host, or two',
  ],
  'HTTP/1.0 needs Host too': ['HTTP: HTTP/1.0 needs no Host'],
  'malformed HTTP closes the connection': [
    'HTTP: 400 Bad request when the HTTP is malformed',
    'HTTP: 431 Request header fields too large',
  ],
  'long headers are a bad request': ['HTTP: 431 Request header fields too large'],
  'bodies have no limit': ['HTTP: 413 Payload too large when the body is over 1 MiB, announced or not'],
  'logins are as long as other bodies': [
    'HTTP: 413 Payload too large when the body of POST /token is over 16 KiB, announced or not; 16 KiB are read',
  ],
  'a login of 16 KiB is too large': [
    'HTTP: 413 Payload too large when the body of POST /token is over 16 KiB, announced or not; 16 KiB are read',
  ],
  'a body of 1 MiB is too large': ['HTTP: a body of exactly 1 MiB is read'],
  '413 breaks the connection': [
    'HTTP: 413 Payload too large also reaches a client that reads only after it has sent everything',
  ],
  'Expect is ignored': ['HTTP: 417 Expectation failed when Expect is other than 100-continue'],
  '401 has no challenge': ['HTTP: 401 carries WWW-Authenticate: Token realm="books"'],
  'responses may be cached': [
    'HTTP: Cache-Control is no-store on POST /token',
    'HTTP: Cache-Control is private, no-cache on what a token protects',
  ],
  'every PUT is a change': [
    'History: GET /changes has every change once, in order, with cursor, type, at and book; an update that changes nothing is none',
  ],
  'the history has no deletions': [
    'History: GET /changes has every change once, in order, with cursor, type, at and book; an update that changes nothing is none',
  ],
  'an empty page has no link': [
    'History: every response of GET /changes has Link with rel="next", also an empty one',
  ],
  'GET /changes never waits': ['History: with wait, GET /changes responds when there is a change'],
  'any cursor is accepted': [
    'History: 400 Invalid query when limit, wait or after is wrong, or after is no cursor of this service',
  ],
  'the history of a book has the first change first': [
    'History: GET /book/{id}/history has the changes of the book, the last one first',
  ],
  'an unknown history is empty': [
    'History: GET /book/{id}/history and POST /book/{id}/restore: 404 Book not found when there never was such a book',
  ],
  'a book is restored as it was created': [
    'History: POST /book/{id}/restore: 200 Book restored successfully; data is the book as it was deleted, under its id',
  ],
  'a restore overwrites the book': [
    'History: POST /book/{id}/restore: 409 Book exists when it does; of several at once exactly one succeeds',
  ],
  'a restore of many has the books in order of id': [
    'History: POST /books/restore: 200 Books restored successfully; data is the books in the order of the request',
  ],
  'a restore of many skips those at fault': [
    'History: POST /books/restore: 400 Invalid input, 404 Book not found and 409 Book exists restore nothing; Invalid-Index has the first id at fault',
  ],
  'a restore of many accepts an id twice': [
    'History: POST /books/restore: 400 Invalid input, 404 Book not found and 409 Book exists restore nothing; Invalid-Index has the first id at fault',
  ],
  'GET /changes needs no token': ['History: the token is checked before anything else'],
  'every origin is allowed': ['HTTP: a browser of an origin that is not listed gets no CORS headers'],
} as const satisfies Readonly<Record<string, readonly [string, ...string[]]>>;

/** The name of a violation. */
export type Violation = keyof typeof violations;

/** Whether a violation is planted. */
export type Planted = (violation: Violation) => boolean;
