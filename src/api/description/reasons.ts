import { UPDATED_BYTES_MAX } from '../../book/book-store.ts';
import { BODY_BYTES_MAX, BOOKS_BYTES_MAX, formatBytes, LOGIN_BYTES_MAX } from '../../http/body-limits.ts';
import type { ErrorName } from './operations.ts';

/** The condition of each error response, in CommonMark, for `/openapi.json` and the table in docs/api.md. */
export const REASONS: Readonly<Record<ErrorName, string>> = {
  invalidRequestPayload: 'the body of `POST /token` is invalid',
  invalidInput:
    'the body of `POST /book` or `PUT /book/{id}` is not a valid book, or that of `POST /books` or `PATCH /books` is not an array of valid books or changes, or that of `POST /books/restore` not one of different ids; `Invalid-Index` is the index of the first invalid one. Or a constraint or a trigger of the table of books rejects the change, also a deletion or a restore; `Error-Detail` names it',
  invalidQuery:
    'a parameter of `GET /books`, `GET /books/deleted`, `GET /changes` or `GET /book/{id}/history` has an invalid value or is repeated, or a cursor belongs to another `sort` or store',
  bookExists:
    'the book of `POST /book/{id}/restore` exists, or one of `POST /books/restore`, where `Invalid-Index` is the index of its id',
  changesRemoved:
    'the changes after the cursor of `GET /changes` are no longer kept; read the list again, see `HISTORY_DAYS`',
  preconditionFailed:
    'the condition in `If-Match`, `If-None-Match` or `ifMatch` is false; nothing has been changed; `Invalid-Index` as for 404',
  invalidIdempotencyKey: 'the `Idempotency-Key` is empty, too long or malformed',
  idempotencyKeyReused: 'the `Idempotency-Key` was used for another body within 24 hours',
  badRequest: 'the request is not well-formed HTTP/1.0 or HTTP/1.1, or does not have exactly one `Host`',
  tokenRequired: 'the request has no token',
  invalidToken:
    'the token is malformed, has a wrong signature or has expired; or, of `POST /token/renewal`, the sign-in was 12 hours ago, or the token has no `exp`',
  readOnlyToken: 'the token has the scope `read`, and the method is neither GET nor HEAD',
  invalidCredentials: 'the username or password of `POST /token` is wrong or absent',
  bookNotFound:
    'there is no book with this id, also on `DELETE`; takes precedence over an invalid body, but in `PATCH /books` and `POST /books/restore`, where `Invalid-Index` is the index of the first change or id at fault',
  notFound:
    'there is no such path; paths are exact, in one spelling without escapes (`/%62ooks` is another path), and the token is not checked',
  methodNotAllowed: 'the path does not have this method; see `Allow`',
  requestTimeout: 'the request did not arrive in time; see `REQUEST_TIMEOUT_SECONDS`',
  payloadTooLarge: `the body is longer than ${formatBytes(BODY_BYTES_MAX)}, or that of \`POST /token\` than ${formatBytes(LOGIN_BYTES_MAX)}, or that of \`POST /books\` or \`PATCH /books\` than ${formatBytes(BOOKS_BYTES_MAX)}, or the stored books of \`PATCH /books\` have more than ${formatBytes(UPDATED_BYTES_MAX)} of text together, or the response to \`PATCH /books\` or \`POST /books/restore\` would have more`,
  expectationFailed: '`Expect` has a value other than `100-continue`',
  tooManyRequests:
    '`POST /token` after 100 failed logins from one address within a minute; see `Retry-After`',
  headersTooLarge: 'the request line and headers are longer than 16 KiB',
  tokenNotGenerated: 'the token cannot be signed',
  internalError: 'a defect of the service; the log has its stack',
  serviceUnavailable:
    'the store is unavailable or full; there are too many concurrent requests, long bodies or connections; or `GET /readyz` while the service is stopping; or, for a search, its index is not ready; see `Retry-After`',
};
