import { INSPECTED_BYTES, isForeignText, isUtf8, utf16Of } from './encoding.ts';
import { type Format, formatOfName } from './file-format.ts';

/** A file that has no table that can be read: a workbook, a packed file, another format, or a text in an unknown encoding. */
export type ForeignKind = 'workbook' | 'packed' | 'foreign' | 'binary' | 'encoding';

/** The file is not CSV or JSON. */
export class ForeignFileError extends Error {
  override readonly name = 'ForeignFileError';
  readonly kind: ForeignKind;
  /** What it is, for people of any language; empty for `binary` and `encoding`, which are unknown. */
  readonly format: string;

  constructor(kind: ForeignKind, format: string) {
    super(`the file is ${format || kind}`);
    this.kind = kind;
    this.format = format;
  }
}

/** By the first bytes, and others that follow among the inspected ones, as Latin-1. */
const SIGNATURES: readonly (readonly [start: string, within: string, kind: ForeignKind, format: string])[] = [
  ['PK\x03\x04', '[Content_Types].xml', 'workbook', 'Excel (.xlsx)'],
  ['PK\x03\x04', 'xl/', 'workbook', 'Excel (.xlsx)'],
  ['PK\x03\x04', 'opendocument.spreadsheet', 'workbook', 'OpenDocument (.ods)'],
  ['PK\x03\x04', '.iwa', 'workbook', 'Numbers'],
  ['PK\x03\x04', 'application/epub+zip', 'foreign', 'EPUB'],
  ['PK\x03\x04', '', 'packed', 'ZIP'],
  ['\xd0\xcf\x11\xe0', '', 'workbook', 'Excel (.xls)'],
  ['\x1f\x8b', '', 'packed', 'gzip'],
  ['BZh', '1AY&SY', 'packed', 'bzip2'],
  ['\xfd7zXZ', '', 'packed', 'xz'],
  ['\x28\xb5\x2f\xfd', '', 'packed', 'zstd'],
  ['7z\xbc\xaf', '', 'packed', '7-Zip'],
  ['Rar!', '', 'packed', 'RAR'],
  ['%PDF-', '', 'foreign', 'PDF'],
  ['{\\rtf', '', 'foreign', 'RTF'],
  ['SQLite format 3\0', '', 'foreign', 'SQLite'],
];

/** Whether more than a twentieth is U+0000, or control characters if it is not UTF-8. Single ones are bad rows. */
function isBinary(bytes: Uint8Array): boolean {
  const controls = isUtf8(bytes) ? [0] : CONTROLS;
  return bytes.filter((byte) => controls.includes(byte)).length * 20 > bytes.length;
}

/** The control characters but for white space. */
const CONTROLS = Array.from({ length: 0x20 }, (_, code) => code).filter((code) => code < 0x09 || code > 0x0d);

/** The leader of a record of MARC 21, which has field terminators. */
const MARC = /^[0-9]{5}[acdnp][a-z][a-z #]/;
const FIELD_TERMINATOR = '\x1e';

/** By their first characters after white space. */
const MARKUP: readonly (readonly [start: RegExp, format: string])[] = [
  [/^<(?:!doctype html|html|head|body|table|meta|div)\b/i, 'HTML'],
  [/^(?:<\?xml[^>]*>\s*)?<\/?[a-z!?]/i, 'XML'],
  [
    /^(?:%[^\n]*\n\s*)*@(?:book|article|misc|inproceedings|incollection|inbook|comment|string|preamble|online|phdthesis)\s*[{(]/i,
    'BibTeX',
  ],
  [/^TY {2}- /, 'RIS'],
];

/**
 * The format of a file: by its extension, or by its first characters if the extension is unknown or not that of its content.
 *
 * @param start the first {@link INSPECTED_BYTES} of the file, or all of it
 * @throws {ForeignFileError}
 */
export function detectFormat(name: string, start: Uint8Array): Format {
  const inspected = start.subarray(0, INSPECTED_BYTES);
  const latin1 = String.fromCharCode(...inspected);
  for (const [first, within, kind, format] of SIGNATURES) {
    if (latin1.startsWith(first) && latin1.includes(within)) throw new ForeignFileError(kind, format);
  }
  if (MARC.test(latin1) && latin1.includes(FIELD_TERMINATOR))
    throw new ForeignFileError('foreign', 'MARC 21');
  const utf16 = utf16Of(inspected);
  if (!utf16 && isBinary(inspected)) throw new ForeignFileError('binary', '');
  const text = new TextDecoder(utf16).decode(inspected).trimStart();
  for (const [markup, format] of MARKUP) if (markup.test(text)) throw new ForeignFileError('foreign', format);
  if (!utf16 && isForeignText(inspected)) throw new ForeignFileError('encoding', '');
  const named = formatOfName(name);
  // No CSV begins like this, whatever its name.
  if (/^\[\s*\{\s*"|^\{\s*"[^"]*"\s*:/.test(text) && named !== 'ndjson') return 'json';
  if (named === 'csv') return named;
  if (/^\[\s*(?:[\]{[]|$)/.test(text)) return 'json';
  return named ?? (/^\{\s*["}]/.test(text) ? 'json' : 'csv');
}
