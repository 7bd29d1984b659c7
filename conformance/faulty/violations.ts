/**
 * Realistic ways to break the contract. The faulty server can be started with each of them, and then these rules
 * must fail, by name. Every rule stands here at least once: none is kept by everybody.
 */
export const violations = {
  // The envelope
  'data is missing on errors': [
    'POST /token: 400 Invalid request payload when the body is empty or not JSON',
    'GET /book/{id}: 404 Book not found when there is none',
    'Authentication: 401 Authorization token required when the header is absent',
    'HTTP: 404 Not found when there is no such path; paths are exact, and no token is needed',
  ],
  'the status in the envelope is always 200': [
    'POST /book: 201 Book created successfully otherwise; data is the stored Book',
    'POST /token: 401 Invalid credentials when the password does not match',
  ],
  'a message is off by one letter': [
    'GET /book/{id}: 404 Book not found when there is none',
    'PUT /book/{id}: 404 Book not found, also when the body is bad',
    'DELETE /book/{id}: 200 Book deleted successfully, data null; reading the same id gives 404',
  ],
  'the envelope has a fourth key': [
    'POST /token: 200 Token generated successfully otherwise; data holds the token alone',
    'GET /books: 200 Books retrieved successfully; data holds every stored book',
  ],
  'the keys of the envelope are sorted': [
    'HTTP: keys stand in order: status, message, data; id, title, author, year',
  ],
  'answers are text/html': ['GET /books: 200 Books retrieved successfully; data holds every stored book'],

  // POST /token
  'any username is right': ['POST /token: 401 Invalid credentials when the username does not match'],
  'any password is right': ['POST /token: 401 Invalid credentials when the password does not match'],
  'failed logins are 403': [
    'POST /token: 401 Invalid credentials when the password does not match',
    'POST /token: 401 Invalid credentials when the username does not match',
    'Reading a body: a field absent in POST /token is "": 401 Invalid credentials',
  ],
  'an unreadable login is 401': [
    'POST /token: 400 Invalid request payload when the body is empty or not JSON',
    'POST /token: 400 Invalid request payload when the body is JSON but not an object',
    'POST /token: 400 Invalid request payload when username or password is not a string',
  ],
  'POST /token needs a token': ['POST /token: needs no token, and does not look at the header Authorization'],
  'a token comes with its type': [
    'POST /token: 200 Token generated successfully otherwise; data holds the token alone',
  ],
  'a token lives an hour': ['Limits: a token lives 15 minutes from issue; exp is in Unix seconds'],
  'exp is in milliseconds': ['Limits: a token lives 15 minutes from issue; exp is in Unix seconds'],
  'a token has a claim besides exp': ['Authentication: a token has one claim, exp'],
  'tokens are signed with HS512': ['Authentication: a token is signed with HS256'],
  'tokens are signed with another secret': ['Authentication: an issued token is signed with SECRET_TOKEN'],

  // Books
  'POST answers 200': [
    'What the service does: a body that arrives in pieces is read whole',
    'POST /book: 201 Book created successfully otherwise; data is the stored Book',
  ],
  'created books are not stored': [
    'POST /book: 201 Book created successfully otherwise; data is the stored Book',
    'GET /book/{id}: 200 Book retrieved successfully otherwise; data is the Book',
  ],
  'equal books share an id': ['POST /book: every book gets an id of its own'],
  'a book has a fifth field': ['GET /book/{id}: 200 Book retrieved successfully otherwise; data is the Book'],
  'text is trimmed': ['POST /book: text is kept as it was sent'],
  'the id of a body is honoured': [
    'Ids: the id in a body is not honoured: the store gives one in POST, the path in PUT',
  ],
  'an id is given out again': ['Ids: an id is never given out twice, not even after its book was deleted'],
  'two creations at the same time share an id': ['Ids: books created at the same time get ids of their own'],
  'GET /books is null when empty': ['Lists: data is an array, [] when there is no book'],
  'GET /books has the newest first': ['Lists: books are ordered by id'],
  'GET /books holds ten books at most': [
    'Lists: a book that exists during the whole call appears exactly once, while others come and go',
  ],
  'GET /books leaves the newest book out': [
    'GET /books: 200 Books retrieved successfully; data holds every stored book',
  ],
  'GET /books holds deleted books': ['GET /books: shows a change, and no longer what was deleted'],
  'PUT replaces absent fields': [
    'PUT /book/{id}: a field absent from the body keeps its stored value',
    'Reading a body: {} in PUT is 200 and changes nothing',
  ],
  'PUT skips "" and 0': ['PUT /book/{id}: a field that is present counts, also when it is "" or 0'],
  'PUT reads, waits and writes': ['PUT /book/{id}: changes of different fields at the same time all survive'],
  'PUT answers the book as it was': [
    'PUT /book/{id}: 200 Book updated successfully otherwise; data is the updated Book',
  ],
  'PUT changes every book': ['PUT /book/{id}: changes no other book'],
  'PUT checks the body before the book': ['PUT /book/{id}: 404 Book not found, also when the body is bad'],
  'PUT checks the size before the book': ['HTTP: 404 Book not found comes before 413'],
  'DELETE hides the book from the list only': [
    'DELETE /book/{id}: 200 Book deleted successfully, data null; reading the same id gives 404',
    'Ids: 404 Book not found when DELETE finds no book',
  ],
  'DELETE of an absent book is 200': [
    'Ids: 404 Book not found when DELETE finds no book',
    'Ids: of several DELETEs at the same time one alone deletes',
  ],
  'DELETE answers the book': [
    'DELETE /book/{id}: 200 Book deleted successfully, data null; reading the same id gives 404',
  ],
  'DELETE deletes every book': ['DELETE /book/{id}: deletes no other book'],
  'DELETE wants a body when a type is announced': [
    'DELETE /book/{id}: needs no body, whatever Content-Type announces',
  ],
  'ids are read leniently': [
    'Ids: 404 Book not found when {id} is not digits alone, also when a lenient reader would find a book',
  ],
  'ids are cut to 64 bits': ['Ids: 404 Book not found when {id} is beyond what any book can have'],
  'ids have no leading zeros': ['Ids: an {id} may have leading zeros'],

  // Bodies
  'the last piece of a body is lost': [
    'What the service does: a body that arrives in pieces is read whole',
    'What the service does: a chunked body is read whole',
  ],
  'pieces are decoded one by one': ['What the service does: a character torn between two pieces stays one'],
  '100 Continue never comes': [
    'What the service does: a client that expects 100 Continue gets it, and then its answer',
  ],
  'escapes in field names are not read': ['POST /book: escapes in JSON are read'],
  'a comma behind the last field is skipped': ['Reading a body: 400 when the JSON is only nearly JSON'],
  'null is an empty object': ['Reading a body: 400 when the body is null'],
  'null counts as absent': ['Reading a body: 400 when a known field is null'],
  'year may be a string': [
    'POST /book: 400 Invalid input when the body cannot be read as a Book',
    'PUT /book/{id}: 400 Invalid input when the body cannot be read as a Book',
  ],
  'fractions of a year are cut': [
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
  'unknown fields are refused': [
    'Reading a body: an unknown field is ignored, whatever its value, and never answered',
  ],
  'field names count in lower case only': ['Reading a body: a field name counts in any case'],
  'the first of two fields counts': [
    'Reading a body: of a field given twice the last one counts, across spellings too',
  ],
  'fields of POST are required': ['Reading a body: a field absent in POST /book is "" or 0: {} is 201'],
  'text behind the JSON value is ignored': ['Reading a body: 400 when text stands behind the JSON value'],
  'a byte-order mark is skipped': ['Reading a body: 400 when a byte-order mark stands before the JSON value'],
  'bytes that are not UTF-8 are replaced': ['Reading a body: 400 when the bytes are not UTF-8'],
  'Content-Type must be JSON': ['Reading a body: the bytes are read as JSON, whatever Content-Type says'],
  'Content-Encoding is not looked at': [
    'Reading a body: 400 when Content-Encoding is other than identity, compressed or not',
  ],
  'every Content-Encoding is refused': ['Reading a body: Content-Encoding: identity is none'],
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
    'Authentication: 401 Invalid token when a word stands before the token',
  ],
  'a token works once': ['Authentication: a token works as often as it is presented, beside others'],
  'only issued tokens are accepted': [
    'Authentication: a token that somebody else signed with the secret is as good',
  ],
  'the signature is not checked': [
    'Authentication: 401 Invalid token when the signature does not verify',
    'Authentication: 401 Invalid token when another secret signed it',
    'Authentication: 401 Invalid token when the header names another HMAC algorithm than the signature has',
  ],
  'alg none is accepted': ['Authentication: 401 Invalid token when the algorithm is not an HMAC one'],
  'RS256 is verified with the secret as key': [
    'Authentication: 401 Invalid token when the header names no HMAC algorithm, though the secret signed it',
  ],
  'the header of a token is not looked at': [
    'Authentication: 401 Invalid token when header or payload is not JSON',
  ],
  'expired tokens are accepted': ['Authentication: 401 Invalid token when it has expired'],
  'tokens get a minute of leeway': [
    'Authentication: 401 Invalid token when it has expired',
    'Tokens: 401 Invalid token from the very second of exp, without leeway',
  ],
  'a token lives through the second of exp': [
    'Tokens: 401 Invalid token from the very second of exp, without leeway',
  ],
  'only HS256 is accepted': ['Authentication: every HMAC algorithm is accepted: HS256, HS384, HS512'],
  'exp is required': ['Tokens: exp that is absent has not expired: accepted'],
  'exp may be a string': ['Tokens: 401 Invalid token when exp is not a number'],
  'nbf is not looked at': [
    'Tokens: 401 Invalid token when nbf is in the future',
    'Tokens: 401 Invalid token when nbf is not a number',
  ],
  'nbf is refused': ['Tokens: nbf in the past is accepted'],
  'unknown claims are refused': [
    'Tokens: claims and header members without a meaning here are not looked at',
  ],
  'crit is not looked at': [
    'Tokens: 401 Invalid token when crit names what nobody knows, or is no list of names',
  ],
  'a payload that is no object has no claims': [
    'Tokens: 401 Invalid token when the payload is not an object',
  ],
  'base64url is read leniently': [
    'Tokens: 401 Invalid token when a signed segment is not canonical base64url',
    'Tokens: 401 Invalid token when the signature is not canonical base64url',
  ],
  'the token is checked after the book': [
    'Authentication: the token is checked before the book is looked for and the body is read',
    'Ids: a bad {id} is looked at after the token',
  ],
  'the token is checked after the body': ['HTTP: 401 comes before 413, and before a byte of the body'],
  'DELETE runs without a valid token': ['Authentication: the endpoint does not run without a valid token'],

  // HTTP
  'an unknown path is answered in plain text': [
    'HTTP: 404 Not found when there is no such path; paths are exact, and no token is needed',
  ],
  'a slash at the end of a path is ignored': [
    'HTTP: 404 Not found when there is no such path; paths are exact, and no token is needed',
  ],
  'a wrong method is 404': [
    'HTTP: 405 Method not allowed when the path exists, with Allow; no token is needed',
  ],
  '405 names no methods': [
    'HTTP: 405 Method not allowed when the path exists, with Allow; no token is needed',
  ],
  'HEAD has content': ['HTTP: HEAD is answered like GET, without content'],
  'HEAD is 405': ['HTTP: HEAD is answered like GET, without content'],
  'a request without Host is taken': ['HTTP: 400 Bad request when HTTP/1.1 comes without Host, or with two'],
  'the first of two Host lines counts': [
    'HTTP: 400 Bad request when HTTP/1.1 comes without Host, or with two',
  ],
  'HTTP/1.0 needs Host too': ['HTTP: HTTP/1.0 needs no Host'],
  'malformed HTTP closes the connection': [
    'HTTP: 400 Bad request when the HTTP is malformed',
    'HTTP: 431 Request header fields too large',
  ],
  'long headers are a bad request': ['HTTP: 431 Request header fields too large'],
  'bodies have no limit': ['HTTP: 413 Payload too large when the body is over 1 MiB, announced or not'],
  'a body of 1 MiB is too large': ['HTTP: a body of exactly 1 MiB is read'],
  '413 breaks the connection': [
    'HTTP: 413 Payload too large also reaches a client that reads only when it has sent everything',
  ],
  'Expect is not looked at': ['HTTP: 417 Expectation failed when Expect is other than 100-continue'],
  '401 has no challenge': ['HTTP: 401 carries WWW-Authenticate: Token realm="books"'],
  'answers may be cached': [
    'HTTP: Cache-Control is no-store on POST /token',
    'HTTP: Cache-Control is private, no-cache on what a token protects',
  ],
  'every origin is let in': ['HTTP: a browser of an origin that nobody listed is not let in'],
} as const satisfies Readonly<Record<string, readonly [string, ...string[]]>>;

/** The name of a violation. */
export type Violation = keyof typeof violations;

/** Whether a violation is planted. */
export type Planted = (violation: Violation) => boolean;
