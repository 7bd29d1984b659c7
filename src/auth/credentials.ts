import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { InvalidJson, type JsonFields, readJsonObject } from '../book/json-object.ts';
import type { Secret } from '../config/secret.ts';

export const LOGIN_FIELD_TYPES = { username: 'text', password: 'text' } as const;

/** The body of POST /token (specification, "LoginRequest"). */
export type LoginRequest = Required<JsonFields<typeof LOGIN_FIELD_TYPES>>;

/** Reads a request body; absent fields are empty. */
export function readLoginRequest(body: Uint8Array): LoginRequest | InvalidJson {
  const fields = readJsonObject(body, LOGIN_FIELD_TYPES);
  return fields instanceof InvalidJson ? fields : { username: '', password: '', ...fields };
}

export class Credentials {
  readonly #key = randomBytes(32);
  readonly #username: Buffer;
  readonly #password: Buffer;

  constructor(username: string, password: Secret) {
    this.#username = this.#digest(username);
    this.#password = this.#digest(password.reveal());
  }

  /** Whether both match, in constant time. */
  match({ username, password }: LoginRequest): boolean {
    const isUsername = timingSafeEqual(this.#digest(username), this.#username);
    const isPassword = timingSafeEqual(this.#digest(password), this.#password);
    return isUsername && isPassword;
  }

  /** Makes texts of any length comparable; the key is random. */
  #digest(text: string): Buffer {
    return createHmac('sha256', this.#key).update(text).digest();
  }
}
