import type { Random } from '../../campaigns/random.ts';
import { makeToken } from '../../conformance/tokens.ts';

const ALGORITHMS = ['HS256', 'HS384', 'HS512'] as const;
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const FOREIGN = '.= \t\r\n\0+/*,;:%"~\x7f\x80\xa0\xc4\xff';

/** Makes valid tokens, valid ones with bytes changed, and signed ones with arbitrary headers and claims. */
export class Mutator {
  readonly #random: Random;
  readonly #secret: string;
  readonly #now: number;
  readonly #valid: readonly string[];

  /** @param now the time of the verifier, in seconds since 1970 */
  constructor(random: Random, secret: string, now: number) {
    this.#random = random;
    this.#secret = secret;
    this.#now = now;
    // Payloads of all lengths modulo 3, since base64url ends differently.
    this.#valid = ALGORITHMS.flatMap((signedWith) =>
      ['', 'a', 'ab'].map((sub) => makeToken(secret, { signedWith, payload: { exp: now + 900, sub } })),
    );
  }

  /** The next token. */
  next(): string {
    const random = this.#random;
    let token = random.below(3) === 0 ? this.#signed() : this.#one(this.#valid);
    for (let changes = random.below(4); changes > 0; changes--) token = this.#change(token);
    return token;
  }

  /** A token with an arbitrary header and claims, mostly signed with the secret. */
  #signed(): string {
    const signedWith = this.#random.pick(ALGORITHMS);
    const alg = this.#random.below(4) > 0 ? [`"alg":"${signedWith}"`] : [];
    const header = `{${[...alg, ...this.#members(HEADER_MEMBERS)].join(',')}}`;
    const payload = `{${this.#members(this.#claims()).join(',')}}`;
    const isDamaged = this.#random.below(10) === 0;
    return makeToken(this.#random.below(10) > 0 ? this.#secret : 'another secret', {
      header: isDamaged ? this.#change(header) : header,
      payload: this.#random.below(10) > 0 ? payload : this.#change(payload),
      signedWith,
    });
  }

  #members(all: readonly string[]): string[] {
    return Array.from({ length: this.#random.below(3) }, () => this.#one(all));
  }

  #claims(): string[] {
    const moments = [-1, -0.5, 0, 0.5, 1, 900].map((seconds) => String(this.#now + seconds));
    const values = [...moments, ...VALUES];
    return ['exp', 'nbf', 'iat', 'EXP', '__proto__'].flatMap((name) => membersOf(name, values.join(' ')));
  }

  #change(text: string): string {
    const random = this.#random;
    const at = random.below(text.length + 1);
    const until = at + random.below(4);
    const alphabet = random.below(4) > 0 ? BASE64URL : FOREIGN;
    const letter = alphabet.charAt(random.below(alphabet.length));
    switch (random.below(8)) {
      case 0:
        return text.slice(0, at) + letter + text.slice(at);
      case 1:
        return text.slice(0, at) + text.slice(until);
      case 2:
        return text.slice(0, until) + text.slice(at);
      case 3:
        return text.slice(0, -1) + letter;
      case 4:
        return this.#exchangePart(text);
      case 5:
        return text.slice(0, at) + text.slice(at, until).toLowerCase() + text.slice(until);
      case 6:
        return text + letter;
      default:
        return text.slice(0, at) + letter + text.slice(at + 1);
    }
  }

  /** Replaces one part of the token by another's, or removes it. */
  #exchangePart(token: string): string {
    const parts = token.split('.');
    const other = [...this.#one(this.#valid).split('.'), ''];
    return parts.with(this.#random.below(parts.length), this.#one(other)).join('.');
  }

  #one<Item>(items: readonly Item[]): Item {
    return this.#random.pick(items) as Item;
  }
}

const VALUES = '"9999999999" "" null true {} [] 0 -1 1e400 -1e400 1e-400 1e15'.split(' ');

const HEADER_MEMBERS = [
  ...membersOf('alg', '"none" "None" "HS256" "HS512" "RS256" "" null ["HS256"]'),
  ...membersOf('crit', '["b64"] ["exp"] [] "b64" null'),
  ...membersOf('b64', 'true false null'),
  '"crit":["b64"],"b64":true',
  ...membersOf('typ', '"JWT" null'),
  '"kid":"/dev/null"',
  '"zip":"DEF"',
  '"enc":"A256GCM"',
  '"__proto__":{"alg":"none"}',
];

function membersOf(name: string, values: string): string[] {
  return values.split(' ').map((value) => `"${name}":${value}`);
}
