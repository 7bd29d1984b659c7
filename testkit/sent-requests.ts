import type { SentRequest } from './described.ts';

/** Parses the requests in the bytes that a client sends on a connection. */
export class SentRequests {
  #bytes = '';
  #isLost = false;

  /** Adds bytes that were sent. */
  add(bytes: string | Uint8Array): void {
    if (this.#isLost) return;
    this.#bytes += Buffer.from(bytes as string).toString('latin1');
    if (this.#bytes.length > BYTES_MAX) this.#isLost = true;
  }

  /** The request of the next response, or undefined from the first one that cannot be parsed. */
  next(): SentRequest | undefined {
    const head = /^([A-Z-]+) (\S+) HTTP\/1\.[01]\r\n(?:[^\r\n]+\r\n)*\r\n/.exec(this.#bytes);
    if (this.#isLost || !head) {
      this.#isLost = true;
      return undefined;
    }
    const [lines, method = '', target = ''] = head;
    const length = Number(/^content-length: *([0-9]+)\r$/im.exec(lines)?.[1] ?? 0);
    this.#bytes = this.#bytes.slice(lines.length + length);
    if (/^(transfer-encoding|expect|upgrade):/im.test(lines)) this.#isLost = true;
    return { method, target };
  }
}

/** Longer requests are not kept. */
const BYTES_MAX = 65_536;
