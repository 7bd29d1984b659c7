/** The unformatted cells of a table. */
export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The tables of a document. */
export function tablesOf(markdown: string): Table[] {
  const tables: Table[] = [];
  const lines = withoutCodeBlocks(markdown).split('\n');
  for (const [index, line] of lines.entries()) {
    if (!/^\|(\s*:?-+:?\s*\|)+\s*$/.test(line)) continue;
    const end = lines.findIndex((text, at) => at > index && !text.startsWith('|'));
    const rows = lines.slice(index + 1, end === -1 ? undefined : end);
    tables.push({ head: cellsOf(lines[index - 1] ?? ''), rows: rows.map(cellsOf) });
  }
  return tables;
}

/** The rows of all tables whose head begins with these cells. */
export function rowsUnder(markdown: string, ...head: readonly string[]): (readonly string[])[] {
  return tablesOf(markdown)
    .filter((table) => head.every((text, index) => table.head[index] === text))
    .flatMap(({ rows }) => rows);
}

/** Inline code of a document. */
export function codeOf(markdown: string): string[] {
  return [...withoutCodeBlocks(markdown).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
}

/** The targets of links. */
export function linksOf(markdown: string): string[] {
  const text = withoutCodeBlocks(markdown).replace(/`[^`\n]*`/g, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
}

/** The headings of a document. */
export function headingsOf(markdown: string): string[] {
  return [...withoutCodeBlocks(markdown).matchAll(/^#+ +(.*)$/gm)].map(([, text = '']) => text.trim());
}

/** The anchor of a heading, such as `#what-counts-as-a-book`. */
export function anchorOf(heading: string): string {
  const words = heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '');
  return `#${words.replaceAll(' ', '-')}`;
}

/** The content of a cell that is only inline code, or undefined. */
export function codeIn(cell: string): string | undefined {
  return /^`([^`]+)`$/.exec(cell)?.[1];
}

function withoutCodeBlocks(markdown: string): string {
  return markdown.replace(/^```.*?^```$/gms, '');
}

/** The cells of a line `| a | b |`; `\\|` is part of a cell. */
function cellsOf(line: string): string[] {
  const cells = line.trim().split(/(?<!\\)\|/);
  return cells.slice(1, -1).map((cell) => cell.replaceAll('\\|', '|').trim());
}
