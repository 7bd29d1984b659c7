import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ENV_FILE, generateMissing, readEnvFile, withoutEmpty } from '../../src/config/env-file.ts';
import { createFolder } from '../../testkit/folder.ts';

const LOCK = `${ENV_FILE}.lock`;
const NAMES = ['SECRET_TOKEN', 'AUTH_USERNAME', 'AUTH_PASSWORD'];
const COMPLETE = { SECRET_TOKEN: 'key', AUTH_USERNAME: 'librarian', AUTH_PASSWORD: 'hunter2' };

/** A process that reports when it holds the lock, and then waits for the end of its input. */
const SLOW_GENERATOR = `
  import { readSync, writeSync } from 'node:fs';
  import { generateMissing } from '${import.meta.resolve('../../src/config/env-file.ts')}';
  let reads = 0;
  const environment = {
    get HOST() {
      reads += 1;
      if (reads === 1) return 'localhost';
      writeSync(1, ' ');
      readSync(0, Buffer.alloc(1));
      return 'localhost';
    },
  };
  console.log(JSON.stringify(generateMissing(environment)));
`;

/** Starts the process; disposing the stack kills it. */
function startGenerator(stack: AsyncDisposableStack): ChildProcessByStdio<Writable, Readable, null> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', SLOW_GENERATOR], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  stack.defer(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  return child;
}

/** Every test has its own working directory. */
const origin = process.cwd();
let folder: Awaited<ReturnType<typeof createFolder>>;
beforeEach(async () => {
  folder = await createFolder();
  process.chdir(folder.path);
});
afterEach(async () => {
  process.chdir(origin);
  await folder[Symbol.asyncDispose]();
});

describe('readEnvFile', () => {
  test('returns no variables without a file', () => {
    assert.deepEqual(readEnvFile(), {});
  });

  test('returns the non-empty variables', async () => {
    await writeFile(ENV_FILE, '# a comment\nPORT=9000\n\nHOST=\nexport AUTH_USERNAME="the librarian"\n');
    assert.deepEqual(readEnvFile(), { PORT: '9000', AUTH_USERNAME: 'the librarian' });
  });

  test('ignores a byte-order mark, trailing white space and CRLF', async () => {
    await writeFile(ENV_FILE, '\uFEFFPORT=9000\r\nHOST= \r\nAUTH_USERNAME=librarian\t\r\n');
    assert.deepEqual(readEnvFile(), { PORT: '9000', AUTH_USERNAME: 'librarian' });
  });

  test('reads quoted values, also of several lines', async () => {
    const text = `A="x # y" # z\nB='1\n2: 3\n' # z\n\tC=\`"\`\n  # D\nE="open\nF=x=y\nG.h-i=1`;
    await writeFile(ENV_FILE, text);
    assert.deepEqual(readEnvFile(), {
      A: 'x # y',
      B: '1\n2: 3\n',
      C: '"',
      E: '"open',
      F: 'x=y',
      'G.h-i': '1',
    });
  });

  test('throws with the number of each line that is not an assignment', async () => {
    for (const [text, ...lines] of [
      ['PORT: 19803', 1],
      ['# ours\nPORT: 19803 # not 8080=80\nHOST=::1\n\nexport HOST\n', 2, 5],
      ['A="\n\n"\nPORT 19803\n', 4],
      ['=19803\nMY PORT=19803\n- PORT=19803\nP\u00f6RT=1', 1, 2, 3, 4],
      [Buffer.from('\uFEFFPORT=19803', 'utf16le'), 1],
    ] as const) {
      await writeFile(ENV_FILE, text);
      const message = lines.map((line) => `.env, line ${line}: must be an assignment such as PORT=8080`);
      assert.throws(readEnvFile, new SyntaxError(message.join('; ')));
      assert.throws(() => generateMissing({}), SyntaxError);
    }
    assert.deepEqual(await readdir('.'), [ENV_FILE]);
  });

  test('throws when the file cannot be read', async () => {
    await mkdir(ENV_FILE);
    assert.throws(readEnvFile, { code: 'EISDIR' });
  });
});

describe('generateMissing', () => {
  test('writes the secrets to a file with mode 0600', async () => {
    const { variables, generated } = generateMissing({ PORT: '9000' });

    assert.deepEqual(generated, NAMES);
    assert.deepEqual({ ...readEnvFile(), PORT: '9000' }, variables);
    assert.equal((await stat(ENV_FILE)).mode & 0o777, 0o600);
    assert.deepEqual(await readdir('.'), [ENV_FILE, LOCK]);
  });

  test('generates long random secrets', async () => {
    const first = generateMissing({}).variables;
    await writeFile(ENV_FILE, '');
    const second = generateMissing({}).variables;

    assert.ok(Buffer.byteLength(first.SECRET_TOKEN ?? '') >= 32);
    assert.ok(Buffer.byteLength(first.AUTH_PASSWORD ?? '') >= 16);
    assert.equal(first.AUTH_USERNAME, 'admin');
    assert.notEqual(first.SECRET_TOKEN, second.SECRET_TOKEN);
    assert.notEqual(first.AUTH_PASSWORD, second.AUTH_PASSWORD);
  });

  test('leaves other files alone, such as a draft of somebody', async () => {
    await writeFile(`${ENV_FILE}.draft`, 'not ours');
    generateMissing({});
    assert.equal(await readFile(`${ENV_FILE}.draft`, 'utf8'), 'not ours');
  });

  test('writes nothing when no secret is missing', async () => {
    const { AUTH_USERNAME, ...secrets } = COMPLETE;
    for (const variables of [{ ...secrets, AUTH_USERNAME }, secrets]) {
      assert.deepEqual(generateMissing(variables), { variables, generated: [] });
    }
    assert.deepEqual(await readdir('.'), []);
  });

  test('keeps set variables and the lines of the file', async () => {
    await writeFile(ENV_FILE, '# ours\nPORT=9000');
    const { variables, generated } = generateMissing({
      PORT: '9000',
      SECRET_TOKEN: 'key',
      AUTH_USERNAME: 'librarian',
    });

    assert.deepEqual(generated, ['AUTH_PASSWORD']);
    assert.equal(variables.SECRET_TOKEN, 'key');
    assert.equal(variables.AUTH_USERNAME, 'librarian');
    assert.equal(
      await readFile(ENV_FILE, 'utf8'),
      `# ours\nPORT=9000\nAUTH_PASSWORD=${variables.AUTH_PASSWORD}\n`,
    );
  });

  for (const [where, text] of [
    ['an empty folder', undefined],
    ['a file that lacks it', 'PORT=9000\n'],
  ] as const) {
    test(`returns the secrets that another process has written meanwhile, in ${where}`, async () => {
      if (text !== undefined) await writeFile(ENV_FILE, text);
      // Both have read the file before either writes.
      const seen = readEnvFile();
      const first = generateMissing(seen);
      const second = generateMissing(seen);

      assert.deepEqual(second, { variables: first.variables, generated: [] });
      assert.deepEqual(readEnvFile(), first.variables);
    });
  }

  test('waits for a process that is generating, and returns its secrets', async () => {
    await using stack = new AsyncDisposableStack();
    const first = startGenerator(stack);
    await once(first.stdout, 'readable');
    const second = startGenerator(stack);
    second.stdin.end();
    // Time for the second process to violate the lock.
    await Promise.race([once(second, 'exit'), sleep(2_500)]);
    first.stdin.end();

    const [{ variables, generated }, others] = (
      await Promise.all([readAll(first.stdout), readAll(second.stdout)])
    ).map((output) => JSON.parse(output));
    assert.deepEqual(generated, NAMES);
    assert.deepEqual(others, { variables, generated: [] });
    assert.deepEqual({ ...readEnvFile(), HOST: 'localhost' }, variables);
    assert.deepEqual(await readdir('.'), [ENV_FILE, LOCK]);
  });

  test('throws after 10 seconds when another process holds the lock', async () => {
    await using stack = new AsyncDisposableStack();
    await once(startGenerator(stack).stdout, 'readable');
    assert.throws(() => generateMissing({}), { code: 'ERR_SQLITE_ERROR' });
  });

  test('does not wait for a killed process', async () => {
    await using stack = new AsyncDisposableStack();
    const killed = startGenerator(stack);
    await once(killed.stdout, 'readable');
    await stack.disposeAsync();

    assert.deepEqual(generateMissing({}).generated, NAMES);
    assert.deepEqual(await readdir('.'), [ENV_FILE, LOCK]);
  });

  test('changes the mode of an existing file to 0600', async () => {
    await writeFile(ENV_FILE, 'PORT=9000\n');
    await chmod(ENV_FILE, 0o644);
    generateMissing({});
    assert.equal((await stat(ENV_FILE)).mode & 0o777, 0o600);
  });
});

test('withoutEmpty removes empty and unset variables', () => {
  assert.deepEqual(withoutEmpty({ A: 'a', B: '', C: undefined, D: ' ' }), { A: 'a', D: ' ' });
});
