import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { reportOf } from '../../console/src/state/files/report.ts';
import { openRowFile } from '../../console/src/state/files/row-file.ts';
import type { Format } from '../../src/formats/file-format.ts';
import type { RowError } from '../../src/formats/row.ts';

const MAPPING = { title: 'title', author: 'author', year: 'year' };

describe('A report of invalid rows', () => {
  const texts = { line: 'line', reason: 'reason', row: 'row', explain: ({ kind }: RowError) => `=${kind}` };
  const report = async (text: string, format: Format) => {
    const file = await openRowFile(new File([text], 'b'), format);
    return await textOf(reportOf(file, ['title', 'year'], MAPPING, texts));
  };

  test('keeps the columns of CSV rows, so that it can be corrected and imported', async () => {
    assert.equal(
      await report('title,year\nEmma,1815\n"-, x",about 1815\nEmma\n', 'csv'),
      "\uFEFFline,reason,title,year\r\n3,'=year,\"'-, x\",about 1815\r\n4,'=cell-count,Emma\r\n",
    );
  });

  test('contains JSON rows as JSON', async () => {
    assert.equal(
      await report('{"title":"Emma"}\n{"title":null}\nx\n', 'ndjson'),
      '\uFEFFline,reason,row\r\n2,\'=text,"{""title"":null}"\r\n3,\'=not-json,x\r\n',
    );
  });
});

async function textOf(parts: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const part of parts) text += part;
  return text;
}
