import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type JsonFields, readJsonObject } from '../book/json-object.ts';
import type { Secret } from '../config/secret.ts';

/** How the fields of a LoginRequest are read. */
export const LOGIN_FIELD_TYPES = { username: 'text', password: 'text' } as const;

/** The body of a request for a token (specification, "LoginRequest"). */
export type LoginRequest = Required<JsonFields<typeof LOGIN_FIELD_TYPES>>;

/**
 * Reads a request body as a LoginRequest; absent fields are empty.
 *
 * @returns the request, or undefined when the bytes cannot be read as one
 */
export function readLoginRequest(body: Uint8Array): LoginRequest | undefined {
  const fields = readJsonObject(body, LOGIN_FIELD_TYPES);
  return fields && { username: '', password: '', ...fields };
}

/** The single pair that may have a token. */
export class Credentials {
  readonly #key = randomBytes(32);
  readonly #username: Buffer;
  readonly #password: Buffer;

  constructor(username: string, password: Secret) {
    this.#username = this.#digest(username);
    this.#password = this.#digest(password.reveal());
  }

  /** Whether both are right, in a time that tells nothing about how much of them is. */
  match({ username, password }: LoginRequest): boolean {
    const isUsernameRight = timingSafeEqual(this.#digest(username), this.#username);
    const isPasswordRight = timingSafeEqual(this.#digest(password), this.#password);
    return isUsernameRight && isPasswordRight;
  }

  /** Texts of any length become comparable, under a key that nobody can aim at. */
  #digest(text: string): Buffer {
    return createHmac('sha256', this.#key).update(text).digest();
  }
}
