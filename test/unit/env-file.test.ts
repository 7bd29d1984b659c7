import assert from 'node:assert/strict';
import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
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

const PIPE_READER = `
  import { generateMissing, readEnvFile } from '${import.meta.resolve('../../src/config/env-file.ts')}';
  const { PORT } = readEnvFile();
  try {
    generateMissing({});
    console.log('generated');
  } catch ({ code }) {
    console.log(JSON.stringify({ PORT, refusal: code }));
  }
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

  test('reads a # as a comment only at the start of a line or after a blank', async () => {
    const text =
      'A=p@ss#word\n # A=2 \\\nB=#hash1\nC=x#\nD=x # y\nE=x #\n#F=1\nG==x=y;z\nH=x\t# y\nI=x \t#y\n';
    await writeFile(ENV_FILE, text);
    const shorts = { D: 'x', E: 'x', H: 'x', I: 'x' };
    assert.deepEqual(readEnvFile(), { A: 'p@ss#word', B: '#hash1', C: 'x#', G: '=x=y;z', ...shorts });
  });

  test('reads a backslash without quotes, and a $ before lower case, as they are', async () => {
    await writeFile(ENV_FILE, 'AUTH_PASSWORD=p@ss\\w$word\nDB_URL=sqlite:C:\\data\\books.db\nHOST="x$y"\n');
    assert.deepEqual(readEnvFile(), {
      AUTH_PASSWORD: 'p@ss\\w$word',
      DB_URL: 'sqlite:C:\\data\\books.db',
      HOST: 'x$y',
    });
  });

  test('leaves out values of other programs that it does not understand', async () => {
    const text = 'TAG=\u0024{TAG:-latest}\nX="a\\nb"\nY= # z\nZ=$$\nPORT=9000\nOTHER=1\n';
    await writeFile(ENV_FILE, text);
    assert.deepEqual(readEnvFile(), { PORT: '9000', OTHER: '1' });
  });

  test('removes quotes that enclose a value, and keeps others', async () => {
    const text = `A="x # y" # "z"\nB='"$x\\y' # z\n\tC = " x "\nD='#' \nE=it's\nF=x"\nG.h-i="it's"\nJ=''`;
    await writeFile(ENV_FILE, text);
    assert.deepEqual(readEnvFile(), {
      A: 'x # y',
      B: '"$x\\y',
      C: ' x ',
      D: '#',
      E: "it's",
      F: 'x"',
      'G.h-i': "it's",
    });
  });

  test('reads the last line of a name, and a $ or backtick that no other program replaces', async () => {
    await writeFile(ENV_FILE, 'A=1\nA=$5 for you$\nexport\tB=1\nB=\nC=a`b`\nD=$(x)\nE=p\u00e4ss “x”\u2028y');
    assert.deepEqual(readEnvFile(), { A: '$5 for you$', C: 'a`b`', D: '$(x)', E: 'p\u00e4ss “x”\u2028y' });
  });

  test('throws with the number of each line that is unclear, and without its text', async () => {
    const noAssignment = 'must be an assignment such as PORT=8080';
    const quotes = 'single or double quotes must enclose the value';
    const literal = 'a value with a backslash must be in single quotes, or without quotes';
    const dollar = 'a value with $ before a capital, _, { or $ must be in single quotes';
    const blank = 'a value with a special blank at an end must be in quotes';
    for (const [text, ...errors] of [
      ['PORT: 19803', [1, noAssignment]],
      ['# ours\nPORT: 19803 # not 8080=80\nHOST=::1\n\nexport HOST\n', [2, noAssignment], [5, noAssignment]],
      [
        '=19803\nMY PORT=19803\n- PORT=19803\nP\u00f6RT=1',
        ...[1, 2, 3, 4].map((line) => [line, noAssignment]),
      ],
      ['; PORT=1\n\u00a0PORT=1', [1, noAssignment], [2, noAssignment]],
      ['A="open\nB=\'open\nC="x"y\nD="x" y\nE="x"#y', ...[1, 2, 3, 4, 5].map((line) => [line, quotes])],
      ["A=\"a\"b\"\nB='a''b'\nC=`x`\nD='x\\'", [1, quotes], [2, quotes], [3, quotes], [4, quotes]],
      ['A="\n\n"\nB=1\n', [1, quotes], [3, noAssignment]],
      ['HOST="x\\ny"\nDB_URL="C:\\data" # x', [1, literal], [2, literal]],
      ['A=x\\\n#x\\\nB=1 # x\\\r\n', ...[1, 3].map((line) => [line, 'ends with a backslash'])],
      [
        'PORT=p$WORD\nHOST="\u0024{x}"\nAUTH_PASSWORD=$$\nBOOKKEEPING_TOKEN=$_',
        ...[1, 2, 3, 4].map((line) => [line, dollar]),
      ],
      [
        'AUTH_PASSWORD= #hash1\nHOST=\t# x',
        ...[1, 2].map((line) => [line, 'the value must have quotes, or the comment a line of its own']),
      ],
      ['HOST=x\u00a0\nAUTH_PASSWORD=\u3000x', [1, blank], [2, blank]],
      ['A=1\rB=2\r', [1, 'has a control character']],
      ['A=1\n# \u0000', [2, 'has a control character']],
      [Buffer.from('A=1\nA=p\u00e4ss\nB', 'latin1'), [2, 'is not UTF-8']],
      [Buffer.from('\uFEFFPORT=19803\r\nA=1\r\n', 'utf16le'), [1, 'is not UTF-8']],
    ] as const) {
      await writeFile(ENV_FILE, text);
      const message = errors.map(([line, error]) => `.env, line ${line}: ${error}`);
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

  test('appends lines after a last line without an end, with the line endings of the file', async () => {
    for (const [before, separator, newline] of [
      ['# ours\r\nPORT=9000', '\r\n', '\r\n'],
      ['\uFEFFPORT=9000\r\n\r\n', '', '\r\n'],
      ['PORT=9000 # ours', '\n', '\n'],
      ['PORT=9000\n\n# ours\n', '', '\n'],
    ] as const) {
      await writeFile(ENV_FILE, before);
      const { variables } = generateMissing({ AUTH_PASSWORD: 'x', AUTH_USERNAME: 'x' });
      const added = `SECRET_TOKEN=${variables.SECRET_TOKEN}`;
      assert.equal(await readFile(ENV_FILE, 'utf8'), `${before}${separator}${added}${newline}`);
      assert.deepEqual(readEnvFile(), { PORT: '9000', SECRET_TOKEN: variables.SECRET_TOKEN });
    }
  });

  test('appends lines to the file that a link leads to', async () => {
    await mkdir('shared');
    await writeFile('shared/env', 'PORT=9000\n');
    await symlink('shared/env', ENV_FILE);
    generateMissing({});
    assert.equal(await readlink(ENV_FILE), 'shared/env');
    assert.match(await readFile('shared/env', 'utf8'), /^PORT=9000\nSECRET_TOKEN=/);
    assert.deepEqual(await readdir('shared'), ['env']);
  });

  test('reads a named pipe, and does not replace it', async () => {
    execFileSync('mkfifo', [ENV_FILE]);
    await using stack = new AsyncDisposableStack();
    // A reader may close between the opening and the write of the writer, which must go on for the next one.
    const loop = `trap '' PIPE; while :; do echo PORT=9000 > ${ENV_FILE}; done`;
    const writer = spawn('sh', ['-c', loop], { stdio: 'ignore' });
    const exited = once(writer, 'exit');
    stack.defer(async () => {
      writer.kill('SIGKILL');
      await exited;
    });
    // In a process that can be ended: reading a pipe without a writer blocks, and no time limit of the test runner ends that.
    const output = execFileSync(process.execPath, ['--input-type=module', '--eval', PIPE_READER], {
      encoding: 'utf8',
      timeout: 60_000,
      killSignal: 'SIGKILL',
    });
    assert.deepEqual(JSON.parse(output), { PORT: '9000', refusal: 'it is not a regular file' });
    assert.ok((await stat(ENV_FILE)).isFIFO());
  });

  test('generates nothing beside a password that begins with a #', async () => {
    const text = 'AUTH_PASSWORD=#hash1\nSECRET_TOKEN=s#1';
    await writeFile(ENV_FILE, text);
    const variables = { AUTH_PASSWORD: '#hash1', SECRET_TOKEN: 's#1' };
    assert.deepEqual(generateMissing({}), { variables, generated: [] });
    assert.equal(await readFile(ENV_FILE, 'utf8'), text);
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
