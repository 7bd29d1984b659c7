import { IncomingMessage } from '../node-http.ts';

const JOINED_PIECES = 64;
/** Node stops to read from a connection after so many pieces that nobody reads, also if they are short: each takes 3 µs. */
const UNREAD_PIECES_MAX = 1_024;

/**
 * A request that joins the pieces of its body while nobody reads it. Node would keep up to 64 KiB of them, each a Buffer that takes some
 * 450 bytes: with chunks of one byte 30 MB, for a stranger that does not read the response, or whose request is not routed yet.
 */
export class JoiningRequest extends IncomingMessage {
  #pieces = 0;

  override push(piece: unknown, encoding?: BufferEncoding): boolean {
    const hasRoom = super.push(piece, encoding);
    if (piece === null || this.readableFlowing === true) return hasRoom;
    if (++this.#pieces % JOINED_PIECES === 0) this.#join();
    return hasRoom && this.#pieces < UNREAD_PIECES_MAX;
  }

  #join(): void {
    const pieces: Buffer[] = [];
    // With a length, `read` would raise the limit of 64 KiB.
    for (let piece = this.read(); piece !== null; piece = this.read()) pieces.push(piece);
    this.unshift(Buffer.concat(pieces));
  }
}
