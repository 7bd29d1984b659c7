import { UnreadableFileError } from './file-bytes.ts';
import { readObject } from './json-object.ts';
import { type BrokenRow, broken, type Row } from './row.ts';

/**
 * Reads a JSON array of objects, element by element, so that a long one holds up nobody and a broken element costs no other.
 * `JSON.parse` alone would do neither, nor could it tell lines.
 *
 * @throws {UnreadableFileError} when it begins otherwise than an array
 */
export async function* readArrayRows(text: AsyncIterable<string>): AsyncGenerator<Row | BrokenRow, void> {
  const elements = new ElementReader();
  for await (const piece of text) yield* elements.read(piece);
  yield* elements.end();
}

/** Finds where elements end. Whether they are JSON is for others to say. */
class ElementReader {
  /** How many brackets and braces are open: 0 outside of the array, 1 between its elements. */
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #state: 'before' | 'within' | 'behind' = 'before';
  #line = 1;
  /** What has been read of the element, and the line where it begins. */
  #text = '';
  #start = 0;
  #isFirst = true;

  *read(piece: string): Generator<Row | BrokenRow, void> {
    let from = 0;
    for (let at = 0; at < piece.length; at++) {
      const character = piece[at] as string;
      if (character === '\n') this.#line++;
      if (this.#state === 'within' && !this.#endsElement(character)) continue;
      if (this.#state === 'within') {
        this.#text += piece.slice(from, at);
        yield* this.#element(character);
        from = at + 1;
      } else if (!isSpace(character)) {
        yield* this.#outside(character);
        from = at + 1;
      }
    }
    if (this.#state === 'within') this.#text += piece.slice(from);
  }

  *end(): Generator<Row | BrokenRow, void> {
    if (this.#state === 'before') throw new UnreadableFileError('no-rows');
    if (this.#state === 'within')
      yield broken(this.#start || this.#line, { kind: 'cut-off' }, this.#text.trim());
  }

  /** Takes in a character of the array. @returns whether an element ends in front of it */
  #endsElement(character: string): boolean {
    if (this.#start === 0 && !isSpace(character)) this.#start = this.#line;
    if (this.#isInString) {
      this.#isInString = character !== '"' || this.#isEscaped;
      this.#isEscaped = character === '\\' && !this.#isEscaped;
      return false;
    }
    if (character === '"') this.#isInString = true;
    else if (character === '[' || character === '{') this.#depth++;
    else if (character === ']' || character === '}') this.#depth--;
    return this.#depth === 0 || (this.#depth === 1 && character === ',');
  }

  *#element(endedBy: string): Generator<Row | BrokenRow, void> {
    const isEmptyArray = this.#isFirst && endedBy !== ',' && this.#text.trim() === '';
    if (!isEmptyArray) yield readObject(this.#start, this.#text);
    if (endedBy !== ',') this.#state = 'behind';
    this.#isFirst = false;
    this.#text = '';
    this.#start = 0;
  }

  *#outside(character: string): Generator<BrokenRow, void> {
    if (this.#state === 'behind') {
      if (this.#start === 0) yield broken(this.#line, { kind: 'trailing' }, '');
      this.#start = this.#line;
    } else if (character === '[') {
      this.#state = 'within';
      this.#depth = 1;
    } else throw new UnreadableFileError('no-array');
  }
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\n' || character === '\r' || character === '\t';
}
