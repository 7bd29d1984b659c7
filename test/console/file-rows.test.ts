import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readChunks, UnreadableFileError } from '../../console/src/state/files/file-bytes.ts';
import { readRows } from '../../console/src/state/files/row-file.ts';
import { readSample } from '../../console/src/state/files/sample.ts';
import type { RowError } from '../../formats/row.ts';

function problem(name: UnreadableFileError['problem'], format = '') {
  return (error: unknown) =>
    error instanceof UnreadableFileError && error.problem === name && error.format === format;
}

async function sampleOf(content: string | Uint8Array<ArrayBuffer>, name: string) {
  return await readSample({ file: new File([content], name), hasHeader: true });
}

test('A file is read by its content, in the encoding and the format that it has', async () => {
  const western = new Uint8Array(Buffer.from('T\xedtulo\n\xc4pfel \x96 \x84s\xfc\xdf\x93\n', 'latin1'));
  const rows = await readRows({ file: new File([western], 'books.csv'), hasHeader: true });
  const cells = (await Array.fromAsync(rows.rows)).flat().map((row) => ('cells' in row ? row.cells : row));
  assert.deepEqual([rows.columns, cells, rows.encoding], [['Título'], [['Äpfel – „süß“']], 'windows-1252']);
  for (const [name, content, format] of [
    ['b.csv', '[', 'csv'],
    ['b.csv', '[{"a":1}]', 'json'],
    ['b.TSV', '', 'csv'],
    ['b.json', ' [{"a":1}]', 'json'],
    ['b.json', '{"a":1}\n{"a":2}', 'json'],
    ['b.jsonl', '', 'ndjson'],
    ['b.ndjson', '[{}]', 'json'],
    ['b.txt', '\uFEFF [{}]', 'json'],
    ['b', '{"a":1}', 'json'],
    ['b.data', 'a;b', 'csv'],
  ] as const) {
    assert.equal((await sampleOf(content, name)).format, format, name + content);
  }
});

test('A file without books that can be read is rejected', async () => {
  for (const text of [' ', '', 'title,author'])
    await assert.rejects(sampleOf(text, 'b.json'), problem('no-array'), text);
  for (const [bytes, kind, format] of [
    [[0x50, 0x4b, 3, 4, 0], 'packed', 'ZIP'],
    [[0xd0, 0xcf, 0x11, 0xe0, 0], 'workbook', 'Excel (.xls)'],
    [[0x25, 0x50, 0x44, 0x46, 0x2d], 'foreign', 'PDF'],
    [[0x89, 0x50, 0, 0], 'binary', ''],
    [[0x96, 0x7b, 0x82, 0xcc, 0x8f, 0x57], 'encoding', ''],
  ] as const) {
    await assert.rejects(sampleOf(new Uint8Array(bytes), 'b.csv'), problem(kind, format));
  }
});

test('A file is read in chunks without gaps, with pauses for other tasks', async () => {
  const text = 'aä€😀'.repeat(200_000);
  const file = new Blob([text]);
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of readChunks(file, (done) => {
    assert.ok(done > bytes);
    bytes = done;
  })) {
    chunks.push(chunk);
    const end = performance.now() + 3;
    while (performance.now() < end);
  }
  clearInterval(timer);
  assert.ok(Buffer.concat(chunks).toString() === text);
  assert.equal(bytes, file.size);
  assert.ok(turns > 3, String(turns));
});

test('The error of a row names the field that is invalid', async () => {
  // What the modules of the console need of a browser when they are loaded.
  const browser = {
    localStorage: { getItem: () => null, removeItem: () => {} },
    document: { documentElement: { dataset: {} } },
    addEventListener: () => {},
  };
  for (const [name, value] of Object.entries(browser)) Object.defineProperty(globalThis, name, { value });
  // A literal would make `tsc` check the module without the types of a browser.
  const folder = '../../console/src';
  const { loadWithTexts } = (await import(`${folder}/language/texts.ts`)) as {
    loadWithTexts: (load: () => Promise<unknown>) => Promise<unknown>;
  };
  const { explainRowError } = (await loadWithTexts(
    () => import(`${folder}/features/files/row-error.ts`),
  )) as {
    explainRowError: (error: RowError) => string;
  };
  assert.match(explainRowError({ kind: 'year', value: 'x' }), /^The year .*“x”$/);
  assert.match(explainRowError({ kind: 'id', value: '0' }), /^The id .*“0”$/);
  assert.match(explainRowError({ kind: 'text', field: 'title' }), /title/i);
});
