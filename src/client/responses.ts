import type { Book } from '../book/contract.ts';
import { RefusedError } from './errors.ts';
import type { ApiResponse } from './exchange.ts';

/** A book and its version. */
export interface VersionedBook extends Book {
  /** The entity tag (RFC 9110, section 8.8.3); undefined when the response had none, or a browser may not read it. */
  readonly etag: string | undefined;
}

/** Any other 404 means that the URL is wrong. */
export function isNotFound({ status, message }: ApiResponse): boolean {
  return status === 404 && message === 'Book not found';
}

export function toVersionedBook(response: ApiResponse): VersionedBook {
  const { data, headers } = expectSuccess(response);
  return { ...(data as Book), etag: headers.get('ETag') ?? undefined };
}

/** @throws {RefusedError} */
export function expectSuccess(response: ApiResponse): ApiResponse {
  if (response.status >= 300) throw new RefusedError(response);
  return response;
}
