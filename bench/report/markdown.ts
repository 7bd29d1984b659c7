/** A table; columns whose names begin with `>` are right-aligned. */
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

/** For values that were not measured successfully. */
const ABSENT = '–';

/** A number with a fixed number of decimals; a dash when it is absent. */
export function decimal(value: number | undefined, decimals = 0, unit = ''): string {
  if (value === undefined || !Number.isFinite(value)) return ABSENT;
  const text = value.toLocaleString('en-US', {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  return text + unit;
}

/** Bytes as MB of 1,000,000 bytes. */
export function megabytes(bytes: number | undefined): string {
  return decimal(bytes === undefined ? undefined : bytes / 1e6);
}

/** A ratio as percent. */
export function percent(ratio: number | undefined): string {
  return decimal(ratio === undefined ? undefined : ratio * 100, 0, ' %');
}
