/** The formats of files with books. */
export const FORMATS = ['csv', 'json', 'ndjson'] as const;
export type Format = (typeof FORMATS)[number];

const FORMAT_OF_EXTENSION: Readonly<Record<string, Format>> = {
  csv: 'csv',
  tsv: 'csv',
  json: 'json',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
};

/** The format that the extension of a file name stands for, or undefined. */
export function formatOfName(name: string): Format | undefined {
  const extension = /\.([^./\\]+)$/.exec(name)?.[1] ?? '';
  return FORMAT_OF_EXTENSION[extension.toLowerCase()];
}
