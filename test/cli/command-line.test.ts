import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { readArguments } from '../../src/cli/arguments.ts';
import type { Command, Given } from '../../src/cli/command.ts';
import { COMMANDS, type CommandName } from '../../src/cli/commands.ts';
import { formatOf } from '../../src/cli/files/format.ts';
import { helpAbout } from '../../src/cli/help.ts';
import { readEnvironmentFile, ServiceProcess } from '../process/service-process.ts';
import { ROOT, readPackage } from '../project/files.ts';
import { createFolder } from '../support/folder.ts';
import { BOOKKEEPING, runCommand, startCommand } from './command.ts';

const here = { folder: ROOT };

describe('The command line', { concurrency: 2 }, () => {
  test('serves without a command, as with `serve`', async () => {
    await using folder = await createFolder();
    for (const [first = '', ...rest] of [[BOOKKEEPING], ['serve', BOOKKEEPING]]) {
      await using service = await new ServiceProcess(folder.path, {}, rest, first).listening();
      const { status } = await fetch(`${service.url}/books`);
      assert.equal(status, 401);
      const { code } = await service.stop();
      assert.equal(code, 0);
    }
    assert.ok((await readEnvironmentFile(folder.path)).SECRET_TOKEN);
  });

  test('helps, with all commands and with each', async () => {
    const { code, output, complaints } = await runCommand(['--help'], here);
    assert.deepEqual([code, complaints], [0, '']);
    for (const [name, { summary }] of Object.entries(COMMANDS)) {
      assert.match(output, new RegExp(`^  ${name}\\b`, 'm'));
      assert.ok(output.includes(summary), name);
    }
    const token = await runCommand(['token', '--help', '--ttl', 'soon'], here);
    assert.deepEqual(token, { code: 0, output: `${helpAbout('token', COMMANDS.token)}\n`, complaints: '' });
    for (const [name, command] of Object.entries<Command>(COMMANDS)) {
      const help = helpAbout(name, command);
      for (const option of Object.keys(command.options))
        assert.match(help, new RegExp(`^  --${option}\\b`, 'm'));
      for (const line of help.split('\n')) assert.ok(line.length <= 120, line);
    }
  });

  test('tells its version', async () => {
    assert.deepEqual(await runCommand(['--version'], here), {
      code: 0,
      output: `${readPackage().version}\n`,
      complaints: '',
    });
  });

  test('is found by npm in a clone', async () => {
    const { stdout } = await promisify(execFile)(
      'npm',
      ['exec', '--offline', '--', 'bookkeeping', '--version'],
      {
        cwd: ROOT,
      },
    );
    assert.equal(stdout, `${readPackage().version}\n`);
  });

  const UNKNOWN: Record<string, readonly string[]> = {
    'a command that there is not': ['frobnicate'],
    'an option in place of a command': ['--frobnicate'],
    'an option that a command does not have': ['token', '--frobnicate'],
    'an ending that names no format': ['import', 'books.xls'],
  };
  for (const [what, args] of Object.entries(UNKNOWN)) {
    test(`does not follow ${what}: one line, exit code 2, and nothing is made`, async () => {
      await using folder = await createFolder();
      const { code, output, complaints } = await runCommand(args, { folder: folder.path });
      assert.match(complaints, /^bookkeeping: [^\n]+\n$/);
      assert.deepEqual([code, output], [2, '']);
      assert.deepEqual(await readdir(folder.path), []);
    });
  }

  test('takes the operands and options that a command has, and no others', () => {
    assert.deepEqual(
      { ...read('import', '-', '--keep-ids', '--format=json').options },
      { 'keep-ids': true, format: 'json' },
    );
    assert.deepEqual(read('export').operands, []);
    for (const [name, ...args] of [
      ['token', '--ttl'],
      ['check', 'everything'],
      ['serve', 'books'],
      ['import'],
      ['import', 'a.csv', 'b.csv'],
      ['import', 'a.csv', '--strict=yes'],
      ['backup'],
    ] as const) {
      assert.throws(
        () => read(name, ...args),
        /^UsageError: [^\n]+; see bookkeeping \w+ --help$/,
        [name, ...args].join(' '),
      );
    }
  });

  test('tells formats by the endings of files', () => {
    const formats = ['a.csv', 'A.CSV', 'a.json', 'a.ndjson', 'a.jsonl', '-'].map((path) =>
      formatOf(path, undefined),
    );
    assert.deepEqual(formats, ['csv', 'csv', 'json', 'ndjson', 'ndjson', 'csv']);
    assert.equal(formatOf('a.csv', 'json'), 'json');
    assert.throws(() => formatOf('a.csv', 'xls'), /^UsageError: --format must be one of csv, json, ndjson$/);
  });

  test('ends without a word when nobody reads its output any more', async () => {
    const child = startCommand(['--help'], here);
    child.stdout?.destroy();
    let complaints = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaints += text;
    });
    const [code] = await once(child, 'close');
    assert.deepEqual([code, complaints], [141, '']);
  });
});

function read(name: CommandName, ...args: readonly string[]): Given {
  return readArguments(name, COMMANDS[name], args);
}
