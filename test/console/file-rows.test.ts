import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodingOf, readChunks, UnreadableFileError } from '../../console/src/state/files/file-bytes.ts';
import { formatOf, openRowFile, readRows } from '../../console/src/state/files/row-file.ts';
import { readSample } from '../../console/src/state/files/sample.ts';
import type { RowError } from '../../src/formats/row.ts';

/** The columns and cells of the rows of a CSV file. */
async function cellsOf(content: string | Uint8Array<ArrayBuffer>): Promise<unknown[]> {
  const { columns, rows } = await readRows(await openRowFile(new File([content], 'books'), 'csv'));
  const all = (await Array.fromAsync(rows)).flat();
  return [columns, ...all.map((row) => ('cells' in row ? row.cells : row))];
}

function problem(name: UnreadableFileError['problem']) {
  return (error: unknown) => error instanceof UnreadableFileError && error.problem === name;
}

test('A CSV file is read in UTF-8, in UTF-16 with or without a byte-order mark, and in Windows-1252', async () => {
  const text = 'title\nÄpfel – „süß“\n';
  const wide = Buffer.from(`\uFEFF${text}`, 'utf16le');
  const windows1252 = Buffer.from('title\n\xc4pfel \x96 \x84s\xfc\xdf\x93\n', 'latin1');
  for (const bytes of [
    Buffer.from(text),
    Buffer.from(`\uFEFF${text}`),
    wide,
    Buffer.from(wide).swap16(),
    wide.subarray(2),
    Buffer.from(wide.subarray(2)).swap16(),
    windows1252,
  ]) {
    assert.deepEqual(await cellsOf(new Uint8Array(bytes)), [['title'], ['Äpfel – „süß“']]);
  }
});

async function sampleOf(content: string | Uint8Array<ArrayBuffer>) {
  return await readSample(await openRowFile(new File([content], 'books'), 'json'));
}

test('A JSON file without an array, or not in Unicode, is rejected', async () => {
  for (const text of ['{"a":1}', ' ', '']) await assert.rejects(sampleOf(text), problem('no-array'), text);
  await assert.rejects(sampleOf(new Uint8Array([0x5b, 0xff, 0x5d])), problem('not-utf8'));
  const { columns, rows } = await sampleOf(new Uint8Array(Buffer.from('\uFEFF[{"a":1},{"b":2}]', 'utf16le')));
  assert.deepEqual([columns, rows.length], [['a', 'b'], 2]);
});

describe('The format of a file', () => {
  test('is detected by its extension, or by its first character', async () => {
    for (const [name, content, format] of [
      ['b.csv', '[', 'csv'],
      ['b.TSV', '', 'csv'],
      ['b.json', ' [', 'json'],
      ['b.json', '{"a":1}\n{"a":2}', 'ndjson'],
      ['b.jsonl', '', 'ndjson'],
      ['b.ndjson', '[', 'ndjson'],
      ['b.txt', '\uFEFF [{', 'json'],
      ['b', '{"a":1}', 'ndjson'],
      ['b.data', 'a;b', 'csv'],
    ] as const) {
      assert.equal(await formatOf(new File([content], name)), format, name + content);
    }
  });

  test('is rejected when it is a workbook or binary', async () => {
    for (const [bytes, what] of [
      [[0x50, 0x4b, 3, 4, 0], 'workbook'],
      [[0xd0, 0xcf, 0x11, 0xe0, 0], 'workbook'],
      [[0x25, 0x50, 0x44, 0x46, 0], 'binary'],
    ] as const) {
      await assert.rejects(formatOf(new File([new Uint8Array(bytes)], 'b.csv')), problem(what));
    }
  });
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
  assert.equal(await encodingOf(file), 'utf-8');
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
