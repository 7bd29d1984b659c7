import type { Book } from '../src/book/contract.ts';
import { RefusedError } from './errors.ts';
import type { ApiResponse } from './exchange.ts';

/** A book and its version. */
export interface VersionedBook extends Book {
  /**
   * The entity tag of the service (RFC 9110, section 8.8.3), also behind a proxy that compresses and alters it; undefined when the
   * response had none, or a browser may not read it.
   */
  readonly etag: string | undefined;
}

/** Any other 404 means that the URL is wrong. */
export function isNotFound({ status, message }: ApiResponse): boolean {
  return status === 404 && message === 'Book not found';
}

/**
 * A book with its `ETag`, as the service has sent it.
 * @throws {RefusedError}
 */
export function toVersionedBook(response: ApiResponse): VersionedBook {
  const { data, headers } = expectSuccess(response);
  return { ...(data as Book), etag: headers.get('ETag')?.replace(ALTERED_TAG, '"$1"') };
}

/**
 * The tag of the service has 22 digits of base64url (src/book/entity-tag.ts). Where a proxy compresses responses, nginx, HAProxy and
 * Cloudflare put `W/` before it, Caddy, Apache and Jetty add the coding, such as `-gzip`. The tag is a hash of the fields, so that
 * the original one holds for any coding; `If-Match` needs it, as weak tags never match there (section 13.1.1).
 */
const ALTERED_TAG = /^(?:W\/)?"([\w-]{22})[^"]*"$/;

/** @throws {RefusedError} */
export function expectSuccess(response: ApiResponse): ApiResponse {
  if (response.status >= 300) throw new RefusedError(response);
  return response;
}
