import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { formatOf } from '../../formats/cli/format-option.ts';
import { type Command, parseArguments } from '../../src/cli/command.ts';
import { COMMANDS, type CommandName } from '../../src/cli/commands.ts';
import { helpOf } from '../../src/cli/help.ts';
import { BOOKKEEPING, runCommand, startCommand } from '../../testkit/command.ts';
import { createFolder } from '../../testkit/folder.ts';
import { readEnvironmentFile, ServiceProcess } from '../../testkit/service-process.ts';
import { ROOT, readPackage } from '../project/files.ts';

const here = { folder: ROOT };

describe('The command line', { concurrency: 2 }, () => {
  test('starts the service without a command and with `serve`', async () => {
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

  test('prints the help of all commands and of each', async () => {
    const { code, stdout, stderr } = await runCommand(['--help'], here);
    assert.deepEqual([code, stderr], [0, '']);
    for (const [name, { summary }] of Object.entries(COMMANDS)) {
      assert.match(stdout, new RegExp(`^  ${name}\\b`, 'm'));
      assert.ok(stdout.includes(summary), name);
    }
    assert.deepEqual(await runCommand(['help'], here), { code, stdout, stderr });
    for (const args of [
      ['token', '--help', '--ttl', 'soon'],
      ['help', 'token'],
    ]) {
      const token = await runCommand(args, here);
      assert.deepEqual(token, { code: 0, stdout: `${helpOf('token', COMMANDS.token)}\n`, stderr: '' });
    }
    for (const [name, command] of Object.entries<Command>(COMMANDS)) {
      const help = helpOf(name, command);
      for (const option of Object.keys(command.options))
        assert.match(help, new RegExp(`^  --${option}\\b`, 'm'));
      for (const line of help.split('\n')) assert.ok(line.length <= 120, line);
    }
  });

  test('prints its version', async () => {
    const version = { code: 0, stdout: `${readPackage().version}\n`, stderr: '' };
    for (const option of ['--version', '-v']) assert.deepEqual(await runCommand([option], here), version);
  });

  test('prints a manual page with every command and option', async () => {
    const { code, stdout, stderr } = await runCommand(['help', '--man'], here);
    assert.deepEqual([code, stderr], [0, '']);
    const text = stdout.replaceAll('\\-', '-');
    for (const [name, { options }] of Object.entries<Command>(COMMANDS)) {
      for (const word of [name, ...Object.keys(options)]) assert.match(text, new RegExp(`\\b${word}\\b`));
    }
  });

  test('runs with `npm exec` in a clone', async () => {
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
    'an unknown command': ['frobnicate'],
    'help of an unknown command': ['help', 'constructor'],
    'an option in place of a command': ['--frobnicate'],
    'an unknown option of a command': ['token', '--frobnicate'],
    'an unknown extension of a file': ['export', 'books.xls'],
  };
  for (const [what, args] of Object.entries(UNKNOWN)) {
    test(`rejects ${what}: one line, exit code 2, and no file is created`, async () => {
      await using folder = await createFolder();
      const { code, stdout, stderr } = await runCommand(args, { folder: folder.path });
      assert.match(stderr, /^bookkeeping: [^\n]+\n$/);
      assert.deepEqual([code, stdout], [2, '']);
      assert.deepEqual(await readdir(folder.path), []);
    });
  }

  test('accepts only the operands and options of a command', () => {
    const { file, options } = parse('import', '-', '--keep-ids', '--format=json') ?? {};
    assert.equal(file, '-');
    assert.deepEqual({ ...options }, { 'keep-ids': true, format: 'json' });
    assert.equal(parse('export')?.file, undefined);
    assert.equal(parse('export', '--help'), undefined);
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
        () => parse(name, ...args),
        /^UsageError: [^\n]+; see bookkeeping \w+ --help$/,
        [name, ...args].join(' '),
      );
    }
  });

  test('infers the format from the extension of a file', () => {
    const formats = ['a.csv', 'A.CSV', 'a.json', 'a.ndjson', 'a.jsonl', '-'].map((path) =>
      formatOf(path, undefined),
    );
    assert.deepEqual(formats, ['csv', 'csv', 'json', 'ndjson', 'ndjson', 'csv']);
    assert.equal(formatOf('a.csv', 'json'), 'json');
    assert.throws(() => formatOf('a.csv', 'xls'), /^UsageError: --format must be one of csv, json, ndjson$/);
  });

  test('exits with 141, without a message, when standard output is closed', async () => {
    const child = startCommand(['--help'], here);
    child.stdout?.destroy();
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const [code] = await once(child, 'close');
    assert.deepEqual([code, stderr], [141, '']);
  });
});

function parse(name: CommandName, ...args: readonly string[]) {
  return parseArguments<Command>(name, COMMANDS[name], args);
}
