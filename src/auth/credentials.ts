import { hash, timingSafeEqual } from 'node:crypto';
import { Invalid } from '../json/invalid.ts';
import { readJsonObject } from '../json/json-object.ts';
import type { Secret } from '../secret.ts';
import { READ_SCOPE, type TokenScope } from './tokens.ts';

export const LOGIN_FIELD_TYPES = { username: 'text', password: 'text', scope: 'text' } as const;

/** The body of POST /token (specification, "LoginRequest"), and the scope of the token, if it is limited. */
interface LoginRequest {
  readonly username: string;
  readonly password: string;
  readonly scope?: TokenScope;
}

/** Reads a request body; absent fields are empty. */
export function readLoginRequest(body: Uint8Array): LoginRequest | Invalid {
  const fields = readJsonObject(body, LOGIN_FIELD_TYPES);
  if (fields instanceof Invalid) return fields;
  const { scope, ...login } = { username: '', password: '', ...fields };
  if (scope === undefined) return login;
  return scope === READ_SCOPE ? { ...login, scope } : new Invalid(`scope must be "${READ_SCOPE}" or absent`);
}

/** The one pair of username and password, kept as a digest. */
export class Credentials {
  readonly #digest: Buffer;

  constructor(username: string, password: Secret) {
    this.#digest = digest({ username, password: password.reveal() });
  }

  /** Whether both match, in constant time. */
  match(login: LoginRequest): boolean {
    return timingSafeEqual(digest(login), this.#digest);
  }
}

/** Makes pairs of any length comparable. */
function digest({ username, password }: LoginRequest): Buffer {
  return hash('sha256', JSON.stringify([username, password]), 'buffer');
}
