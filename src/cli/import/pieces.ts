import { ROW_BYTES_MAX } from './row.ts';

/** What one row is made of, while it comes in several chunks. Of one that is too long no more is kept. */
export class Pieces {
  #pieces: Uint8Array[] = [];
  #length = 0;

  add(piece: Uint8Array): void {
    this.#length += piece.length;
    if (this.isTooLong) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  get isTooLong(): boolean {
    return this.#length > ROW_BYTES_MAX;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** All of it, in one; afterwards it is empty again. */
  take(): Uint8Array {
    const [first, ...others] = this.#pieces;
    const bytes = first && others.length === 0 ? first : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#length = 0;
    return bytes;
  }
}
