/** A table: columns named with a leading `>` have numbers in them. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  return [
    line(columns.map((column) => column.replace(/^>/, ''))),
    line(columns.map((column) => (column.startsWith('>') ? '--:' : '---'))),
    ...rows.map(line),
  ].join('\n');
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** What stands where nothing was measured, or not successfully. */
const NOTHING = '–';

/** A number with so many decimals, or a dash when there is none. */
export function decimal(value: number | undefined, decimals = 0, unit = ''): string {
  if (value === undefined || !Number.isFinite(value)) return NOTHING;
  const text = value.toLocaleString('en-US', {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  return text + unit;
}

/** Bytes as MB, which are 1,000,000 of them. */
export function megabytes(bytes: number | undefined): string {
  return decimal(bytes === undefined ? undefined : bytes / 1e6);
}

/** A part of one as percent. */
export function percent(part: number | undefined): string {
  return decimal(part === undefined ? undefined : part * 100, 0, ' %');
}
