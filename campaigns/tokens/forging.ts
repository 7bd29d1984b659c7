import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { encodeBase64url, makeToken, type TokenParts } from '../../conformance/tokens.ts';

/** Makes named tokens of each item. */
export function named<Item>(
  items: Iterable<Item>,
  make: (item: Item) => readonly (readonly [name: string, token: string])[],
): Record<string, string> {
  return Object.fromEntries([...items].flatMap(make));
}

/** Forges tokens with its own keys, public keys or guessed secrets. */
export class Forger {
  readonly #payload: object;
  readonly #rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  readonly #ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #ed = generateKeyPairSync('ed25519');

  /** @param payload the claims of the forged tokens */
  constructor(payload: object) {
    this.#payload = payload;
  }

  /** Tokens signed with asymmetric keys of the forger, with and without the key in the header. */
  asymmetric(): Record<string, string> {
    const keys = {
      RS256: { key: this.#rsa.privateKey },
      PS256: { key: this.#rsa.privateKey, padding: 6, saltLength: 32 },
      ES256: { key: this.#ec.privateKey, dsaEncoding: 'ieee-p1363' },
      EdDSA: { key: this.#ed.privateKey },
    } as const;
    const tokens: Record<string, string> = {};
    for (const [alg, key] of Object.entries(keys)) {
      const jwk = createPublicKey(key.key).export({ format: 'jwk' });
      tokens[`${alg} with a key of its own`] = this.#sign({ alg }, key);
      tokens[`${alg} with a key of its own in jwk`] = this.#sign({ alg, jwk }, key);
      tokens[`${alg} with a key of its own in x5c`] = this.#sign({ alg, x5c: [jwk.x ?? jwk.n] }, key);
    }
    return tokens;
  }

  /** Tokens of HS256 whose key is a public key. */
  keyConfusion(): Record<string, string> {
    const tokens: Record<string, string> = {};
    for (const [name, { publicKey }] of Object.entries({ RSA: this.#rsa, EC: this.#ec, Ed25519: this.#ed })) {
      for (const format of ['pem', 'der'] as const) {
        const key = this.#export(publicKey, format);
        tokens[`HS256 with a public key of ${name} as ${format}`] = this.symmetric(key);
      }
    }
    return tokens;
  }

  /** A token whose HMAC is made with this key. */
  symmetric(key: string, parts: TokenParts = {}): string {
    return makeToken(key, { payload: this.#payload, ...parts });
  }

  /** Guesses that are similar to a secret. */
  guesses(secret: string): Record<string, string> {
    return {
      empty: '',
      'a zero byte': '\0',
      'the word secret': 'secret',
      'in upper case': secret.toUpperCase(),
      'and a space': `${secret} `,
      'and a line break': `${secret}\n`,
      'without its end': secret.slice(0, -1),
      'in base64': Buffer.from(secret).toString('base64'),
      'in hexadecimal': Buffer.from(secret).toString('hex'),
      'hashed in hexadecimal': createHash('sha256').update(secret).digest('hex'),
      'as it is logged': '[secret]',
    };
  }

  #sign(header: object, key: Parameters<typeof sign>[2]): string {
    const signed = [header, this.#payload].map((part) => encodeBase64url(JSON.stringify(part))).join('.');
    const hash = 'alg' in header && header.alg === 'EdDSA' ? null : 'sha256';
    return `${signed}.${sign(hash, Buffer.from(signed), key).toString('base64url')}`;
  }

  #export(key: KeyObject, format: 'pem' | 'der'): string {
    return format === 'pem'
      ? key.export({ type: 'spki', format })
      : key.export({ type: 'spki', format }).toString('latin1');
  }
}
