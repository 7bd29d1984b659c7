import type { Book } from '../../../src/client/index.ts';

const utf8 = new TextEncoder();

/** The entity tag of a book, as the service computes it in src/book/entity-tag.ts. Pages without TLS have no `crypto.subtle`. */
export function entityTag({ id, title, author, year }: Book): string {
  const text = `${id} ${year} ${utf8.encode(title).length} ${title}${author}`;
  const digest = btoa(String.fromCharCode(...sha256(utf8.encode(text))));
  return `"${digest.slice(0, 22).replaceAll('+', '-').replaceAll('/', '_')}"`;
}

const PRIMES: number[] = [];
for (let number = 2; PRIMES.length < 64; number++)
  if (PRIMES.every((prime) => number % prime !== 0)) PRIMES.push(number);

/** The first 32 bits of the fractional parts of roots of the first primes (FIPS 180-4, sections 4.2.2 and 5.3.3). */
const wordsOf = (rootOf: (prime: number) => number) =>
  Int32Array.from(PRIMES, (prime) => (rootOf(prime) % 1) * 2 ** 32);
const ROUND_CONSTANTS = wordsOf(Math.cbrt);
const INITIAL_STATE = wordsOf(Math.sqrt).slice(0, 8);

const rotate = (word: number, bits: number) => (word >>> bits) | (word << (32 - bits));

/** SHA-256 (FIPS 180-4, section 6.2) of at most 512 MB. */
function sha256(message: Uint8Array): Uint8Array {
  const blocks = new DataView(new ArrayBuffer(Math.ceil((message.length + 9) / 64) * 64));
  new Uint8Array(blocks.buffer).set(message);
  blocks.setUint8(message.length, 0x80);
  blocks.setUint32(blocks.byteLength - 4, message.length * 8);
  const state = new Int32Array(INITIAL_STATE);
  const words = new Int32Array(64);
  for (let start = 0; start < blocks.byteLength; start += 64) {
    for (let round = 0; round < 16; round++) words[round] = blocks.getInt32(start + 4 * round);
    for (let round = 16; round < 64; round++) {
      const [early, late] = [at(words, round - 15), at(words, round - 2)];
      const first = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
      const second = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
      words[round] = at(words, round - 16) + first + at(words, round - 7) + second;
    }
    addBlock(state, words);
  }
  const digest = new DataView(new ArrayBuffer(32));
  for (const [index, word] of state.entries()) digest.setInt32(4 * index, word);
  return new Uint8Array(digest.buffer);
}

function addBlock(state: Int32Array, words: Int32Array): void {
  let [a, b, c, d, e, f, g, h] = [...state] as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  for (let round = 0; round < 64; round++) {
    const chosen = (e & f) ^ (~e & g);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const mixed = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const one = h + mixed + chosen + at(ROUND_CONSTANTS, round) + at(words, round);
    const other = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + other) | 0;
  }
  state.set([a, b, c, d, e, f, g, h].map((word, index) => word + at(state, index)));
}

const at = (words: Int32Array, index: number) => words[index] as number;
