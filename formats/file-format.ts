export const FORMATS = ['csv', 'json', 'ndjson'] as const;
export type Format = (typeof FORMATS)[number];

const ALIASES: Readonly<Record<string, Format>> = { tsv: 'csv', jsonl: 'ndjson' };

/** The format of a file according to its extension; undefined when that is unknown. */
export function formatOfName(name: string): Format | undefined {
  const extension = (/\.([^./\\]+)$/.exec(name)?.[1] ?? '').toLowerCase();
  return FORMATS.find((format) => format === (ALIASES[extension] ?? extension));
}
