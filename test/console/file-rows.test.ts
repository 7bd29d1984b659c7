import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { UnreadableFileError } from '../../console/src/files/file-bytes.ts';
import { type Format, formatOf } from '../../console/src/files/formats.ts';
import { openRowFile, readRows } from '../../console/src/files/row-file.ts';
import { encodingOf, readText } from '../../console/src/files/text.ts';

/** Rows as tests write them: the line, and the cells or what is wrong. */
async function rowsOf(content: string | Uint8Array<ArrayBuffer>, format: Format): Promise<unknown[]> {
  const rows: unknown[] = [];
  const file = await openRowFile(new File([content], 'books'), format);
  for await (const row of readRows(file)) {
    rows.push([
      row.line,
      'fault' in row
        ? row.fault.kind
        : Object.fromEntries(row.columns.map((column, index) => [column, row.cells[index]])),
    ]);
  }
  return rows;
}

function problem(name: UnreadableFileError['problem']) {
  return (error: unknown) => error instanceof UnreadableFileError && error.problem === name;
}

describe('A CSV file', () => {
  test('has rows, each with the line where it begins, whatever the ends of lines', async () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const text = ['a,b', '1,"x', '', 'y"', '', '"2","say ""hi"""', ' 3 ,'].join(end);
      assert.deepEqual(await rowsOf(text, 'csv'), [
        [2, { a: '1', b: `x${end}${end}y` }],
        [6, { a: '2', b: 'say "hi"' }],
        [7, { a: ' 3 ', b: '' }],
      ]);
    }
  });

  test('may have other delimiters, a byte-order mark, and quotation marks where none are needed', async () => {
    for (const delimiter of [',', ';', '\t', '|']) {
      const text = `\uFEFF"a,;"${delimiter}b\n"1"${delimiter}5" disks and "more"\n`;
      assert.deepEqual(await rowsOf(text, 'csv'), [[2, { 'a,;': '1', b: '5" disks and "more"' }]]);
    }
  });

  test('may have columns without a name, or with one that others have', async () => {
    const rows = await rowsOf('a,a,,a (2)\n1,2,3,4', 'csv');
    assert.deepEqual(rows, [[2, { a: '1', 'a (2)': '2', '#3': '3', 'a (2) (2)': '4' }]]);
  });

  test('has rows that cannot be read: with other numbers of cells, or a quotation mark that nobody closes', async () => {
    assert.deepEqual(await rowsOf('a,b\n1\n1,2,3\n1,2,,\n"open,2\n5,6\n', 'csv'), [
      [2, 'cells'],
      [3, 'cells'],
      [4, { a: '1', b: '2' }],
      [5, 'unclosed-quote'],
    ]);
  });

  test('may be in UTF-8, UTF-16 with a byte-order mark, or Windows-1252', async () => {
    const text = 'title\nÄpfel – „süß“\n';
    const wide = Buffer.from(`\uFEFF${text}`, 'utf16le');
    const western = Buffer.from('title\n\xc4pfel \x96 \x84s\xfc\xdf\x93\n', 'latin1');
    for (const bytes of [Buffer.from(text), Buffer.from(`\uFEFF${text}`), wide, western]) {
      assert.deepEqual(await rowsOf(new Uint8Array(bytes), 'csv'), [[2, { title: 'Äpfel – „süß“' }]]);
    }
  });

  test('may have no header; its columns are numbered then', async () => {
    const file = await openRowFile(new File(['Emma;1815\nFaust;1808'], 'b'), 'csv');
    const rows: unknown[] = [];
    for await (const row of readRows({ ...file, hasHeader: false })) rows.push(row);
    assert.deepEqual(rows, [
      { line: 1, columns: ['#1', '#2'], cells: ['Emma', '1815'] },
      { line: 2, columns: ['#1', '#2'], cells: ['Faust', '1808'] },
    ]);
  });

  test('may be empty', async () => {
    for (const text of ['', '\n\n', 'a,b', 'a,b\n,\n']) assert.deepEqual(await rowsOf(text, 'csv'), []);
  });
});

describe('A JSON file', () => {
  test('has objects in an array, each with the line where it begins', async () => {
    const text = '\n[ {"a": 1, "b": [1, {"c": "]}\\",["}]},\n\n{"a":null}\n,\n{\n"a"\n:"ü"}\n]\n';
    assert.deepEqual(await rowsOf(text, 'json'), [
      [2, { a: 1, b: [1, { c: ']}",[' }] }],
      [4, { a: null }],
      [6, { a: 'ü' }],
    ]);
    assert.deepEqual(await rowsOf(' [ ] ', 'json'), []);
  });

  test('has elements that cannot be read, beside others that can', async () => {
    assert.deepEqual(await rowsOf('[{"a":1},\n{a:2},\n"x",[],null,\n{"a":"\n"},{"a":3},]', 'json'), [
      [1, { a: 1 }],
      [2, 'not-json'],
      [3, 'not-object'],
      [3, 'not-object'],
      [3, 'not-object'],
      [4, 'not-json'],
      [5, { a: 3 }],
      [5, 'not-json'],
    ]);
  });

  test('may be cut off, or go on behind the array', async () => {
    assert.deepEqual(await rowsOf('[{"a":1},\n{"a":', 'json'), [
      [1, { a: 1 }],
      [2, 'cut-off'],
    ]);
    assert.deepEqual(await rowsOf('[{"a":1}]\n{"a":2} x', 'json'), [
      [1, { a: 1 }],
      [2, 'trailing'],
    ]);
  });

  test('without an array, or in another encoding than UTF-8, cannot be read', async () => {
    await assert.rejects(rowsOf('{"a":1}', 'json'), problem('no-array'));
    await assert.rejects(rowsOf(' ', 'json'), problem('no-rows'));
    await assert.rejects(rowsOf(new Uint8Array([0x5b, 0xff, 0x5d]), 'json'), problem('not-utf8'));
  });

  test('reads the same wherever it is cut into pieces', async () => {
    const objects = Array.from({ length: 9_000 }, (_, n) => ({ a: `„${n}“ \\"[{`, b: { n, path: 'C:\\' } }));
    const rows = await rowsOf(JSON.stringify(objects, undefined, 1), 'json');
    assert.deepEqual(
      rows.map((row) => (row as unknown[])[1]),
      objects,
    );
  });
});

test('An NDJSON file has an object on each line', async () => {
  assert.deepEqual(await rowsOf('{"a":1}\r\n\n{"a":2}\n[1]\n{"a":\n{"a":3}', 'ndjson'), [
    [1, { a: 1 }],
    [3, { a: 2 }],
    [4, 'not-object'],
    [5, 'not-json'],
    [6, { a: 3 }],
  ]);
});

describe('What a file is', () => {
  test('is told by its name, or else by how it begins', async () => {
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

  test('is told where it is none that can be read', async () => {
    for (const [bytes, what] of [
      [[0x50, 0x4b, 3, 4, 0], 'workbook'],
      [[0xd0, 0xcf, 0x11, 0xe0, 0], 'workbook'],
      [[0x25, 0x50, 0x44, 0x46, 0], 'binary'],
    ] as const) {
      await assert.rejects(formatOf(new File([new Uint8Array(bytes)], 'b.csv')), problem(what));
    }
  });
});

test('A text is read in pieces that nothing is lost between, and others get their turn', async () => {
  const text = 'aä€😀'.repeat(200_000);
  const file = new Blob([text]);
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  let read = '';
  let bytes = 0;
  for await (const piece of readText(file, 'utf-8', (worked) => {
    assert.ok(worked > bytes);
    bytes = worked;
  })) {
    read += piece;
    const end = performance.now() + 3;
    while (performance.now() < end);
  }
  clearInterval(timer);
  assert.ok(read === text);
  assert.equal(bytes, file.size);
  assert.ok(turns > 3, String(turns));
  assert.equal(await encodingOf(file), 'utf-8');
});
