import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { formatOf } from '../../formats/cli/format-option.ts';
import { createProgram } from '../../src/cli/program.ts';
import { BOOKKEEPING, runCommand, startCommand } from '../../testkit/command.ts';
import { createFolder } from '../../testkit/folder.ts';
import { readEnvironmentFile, ServiceProcess } from '../../testkit/service-process.ts';
import { ROOT, readPackage } from '../project/files.ts';

const here = { folder: ROOT };
const { commands } = createProgram(async () => {});

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
    const words = stdout.replaceAll(/\s+/g, ' ');
    for (const command of commands) {
      assert.match(stdout, new RegExp(`^  ${command.name()}\\b`, 'm'));
      assert.ok(words.includes(command.summary()), command.name());
    }
    assert.deepEqual(await runCommand(['help'], here), { code, stdout, stderr });
    for (const command of commands) {
      const args = [command.name(), '--help'];
      const help = await runCommand(args, here);
      assert.deepEqual([help.code, help.stderr], [0, '']);
      for (const { long } of command.options) assert.match(help.stdout, new RegExp(`^  ${long}\\b`, 'm'));
      assert.match(help.stdout, /^Exit code: 0 on success, /m);
      for (const line of help.stdout.split('\n')) assert.ok(line.length <= 80, line);
    }
    const token = await runCommand(['token', '--help', '--ttl', 'soon'], here);
    assert.deepEqual(await runCommand(['help', 'token'], here), token);
    assert.match(token.stdout, /^ {2}--ttl <TIME>/m);
  });

  test('prints its version', async () => {
    const version = { code: 0, stdout: `${readPackage().version}\n`, stderr: '' };
    for (const option of ['--version', '-v']) assert.deepEqual(await runCommand([option], here), version);
  });

  test('prints a manual page with every command and option', async () => {
    const { code, stdout, stderr } = await runCommand(['help', '--man'], here);
    assert.deepEqual([code, stderr], [0, '']);
    const text = stdout.replaceAll('\\-', '-');
    for (const command of commands) {
      for (const word of [`.SS ${command.name()}`, ...command.options.map(({ flags }) => `.B ${flags}`)])
        assert.ok(text.includes(word), word);
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

  const INVALID: Record<string, [args: readonly string[], problem: RegExp]> = {
    'an unknown command': [['frobnicate'], /unknown command 'frobnicate'; see bookkeeping --help/],
    'a misspelled command': [['chek'], /unknown command 'chek' \(Did you mean check\?\); see/],
    'help of an unknown command': [['help', 'constructor'], /unknown command 'constructor'; see/],
    'an option in place of a command': [
      ['--frobnicate'],
      /unknown option '--frobnicate'; see bookkeeping --/,
    ],
    'an unknown option of a command': [
      ['token', '--frobnicate'],
      /unknown option '--frobnicate'; see bookkeeping token --help/,
    ],
    'an option without its value': [['token', '--ttl'], /option '--ttl <TIME>' argument missing; see/],
    'an option in place of the value of another': [['token', '--ttl', '--read-only'], /--ttl must be/],
    'an operand too many': [['check', 'everything'], /too many arguments for 'check'.*; see/],
    'an operand of serve': [['serve', 'books'], /too many arguments for 'serve'.*; see/],
    'a missing operand': [['import'], /missing required argument 'FILE'; see bookkeeping import --help/],
    'a second file': [['import', 'a.csv', 'b.csv'], /too many arguments for 'import'.*; see/],
    'a value of a flag': [['import', 'a.csv', '--strict=yes'], /unknown option '--strict=yes'; see/],
    'an unknown extension of a file': [['export', 'books.xls'], /the extension of books.xls is no/],
  };
  for (const [what, [args, problem]] of Object.entries(INVALID)) {
    test(`rejects ${what}: one line, exit code 2, and no file is created`, async () => {
      await using folder = await createFolder();
      const { code, stdout, stderr } = await runCommand(args, { folder: folder.path });
      assert.match(stderr, /^bookkeeping: [^\n]+\n$/);
      assert.match(stderr, problem);
      assert.deepEqual([code, stdout], [2, '']);
      assert.deepEqual(await readdir(folder.path), []);
    });
  }

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
