import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runWith } from '../testkit/run-program.ts';
import type { Campaign, EngineName, Figures } from './campaign.ts';

const ROOT = join(import.meta.dirname, '..');

/** The document with the table of the last full runs. */
const DOCUMENT = 'docs/testing.md';

/** The lines around its rows. */
const START = '<!-- Each full run of a campaign replaces its row. -->';
const END = '<!-- The end of the rows. -->';

/** Writes a full run into the table: what the campaign does, once for its engines, the length, and the figures that it names. */
export async function recordRun(
  name: string,
  { summary, recorded, engines }: Campaign,
  engine: EngineName,
  figures: Figures,
): Promise<void> {
  const path = join(ROOT, DOCUMENT);
  const date = new Date().toISOString().slice(0, 10);
  const run = `${date}, ${await describeCommit()}`;
  const row = [
    `\`${name}\``,
    engine,
    engine === engines[0] ? summary : '',
    `${figures.seconds}`,
    describe(figures, recorded),
    run,
  ];
  await writeFile(path, replaceRow(await readFile(path, 'utf8'), row));
}

/** Replaces the row with the same campaign and engine, or adds it at its place in the alphabet. */
export function replaceRow(document: string, cells: readonly string[]): string {
  const [before, rest] = splitAt(document, START);
  const [table, after] = splitAt(rest, END);
  const row = `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const [, , heading = '', line = '', ...rows] = table.split('\n');
  const others = rows.filter((other) => other !== '' && keyOf(other) !== keyOf(row));
  const sorted = [...others, row].toSorted((one, other) => keyOf(one).localeCompare(keyOf(other), 'en'));
  return [`${before}${START}`, '', heading, line, ...sorted, '', `${END}${after}`].join('\n');
}

/** Figures in one line. @param names of those that it has, in their order; not every engine has all */
export function describe(figures: Figures, names: readonly string[]): string {
  return names
    .flatMap((name) => {
      const value = figures[name];
      return value === undefined ? [] : [`${name}: ${typeof value === 'number' ? rounded(value) : value}`];
    })
    .join('; ');
}

function rounded(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 100 ? 1 : 0 });
}

/** SQLite comes first, as in every campaign that has both. */
function keyOf(row: string): string {
  const [, name = '', engine = ''] = row.split('|').map((cell) => cell.trim());
  return `${name} ${engine === 'SQLite' ? 0 : 1}`;
}

function splitAt(text: string, mark: string): [before: string, after: string] {
  const at = text.indexOf(mark);
  if (at < 0) throw new Error(`${DOCUMENT} has no line ${mark}`);
  return [text.slice(0, at), text.slice(at + mark.length)];
}

/** What git prints. */
async function git(...flags: string[]): Promise<string> {
  return (await runWith({ cwd: ROOT }, 'git', flags)).trim();
}

/** The commit, and whether there are changes that are not in it. */
async function describeCommit(): Promise<string> {
  try {
    const commit = await git('rev-parse', '--short', 'HEAD');
    const changes = await git('status', '--porcelain', '--', '.', `:(exclude)${DOCUMENT}`);
    return changes === '' ? commit : `${commit} with changes`;
  } catch {
    return 'no repository';
  }
}
