import { type BrokenRow, broken, type Row } from './row.ts';

/** Reads a text as the JSON object of a row. */
export function readObject(line: number, text: string): Row | BrokenRow {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return broken(line, { kind: 'not-json' }, text.trim());
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return broken(line, { kind: 'not-object' }, text.trim());
  }
  return { line, columns: Object.keys(value), cells: Object.values(value) };
}
