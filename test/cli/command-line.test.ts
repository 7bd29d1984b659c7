import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { COMMANDS } from '../../src/cli/commands.ts';
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
    for (const [name, { summary, options }] of Object.entries(COMMANDS)) {
      assert.match(output, new RegExp(`^  ${name}\\b`, 'm'));
      assert.ok(output.includes(summary), name);
      const help = await runCommand([name, '--help'], here);
      assert.deepEqual([help.code, help.complaints], [0, '']);
      for (const option of Object.keys(options))
        assert.match(help.output, new RegExp(`^  --${option}\\b`, 'm'));
      for (const line of help.output.split('\n')) assert.ok(line.length <= 120, line);
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
    'an option without its value': ['token', '--ttl'],
    'an operand too many': ['check', 'everything'],
    'a time that is none': ['token', '--ttl', 'soon'],
    'a time of nothing': ['token', '--ttl', '0'],
    'a time beyond reason': ['token', '--ttl', '3651d'],
    'a service with operands': ['serve', 'books'],
  };
  for (const [what, args] of Object.entries(UNKNOWN)) {
    test(`does not follow ${what}: one line, exit code 2`, async () => {
      await using folder = await createFolder();
      const { code, output, complaints } = await runCommand(args, { folder: folder.path });
      assert.match(complaints, /^bookkeeping: [^\n]+\n$/);
      assert.deepEqual([code, output], [2, '']);
    });
  }

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
