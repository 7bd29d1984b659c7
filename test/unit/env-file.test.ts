import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ENV_FILE, generateMissing, readEnvFile, withoutEmpty } from '../../src/env-file.ts';
import { createFolder } from '../support/folder.ts';

const NAMES = ['SECRET_TOKEN', 'AUTH_USERNAME', 'AUTH_PASSWORD'];
const COMPLETE = { SECRET_TOKEN: 'key', AUTH_USERNAME: 'librarian', AUTH_PASSWORD: 'hunter2' };

/** The file is in the working directory; every test has one of its own. */
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

describe('Reading the file', () => {
  test('gives no variables when there is none', () => {
    assert.deepEqual(readEnvFile(), {});
  });

  test('gives the variables that are set to something', async () => {
    await writeFile(ENV_FILE, '# a comment\nPORT=9000\n\nHOST=\nexport AUTH_USERNAME="the librarian"\n');
    assert.deepEqual(readEnvFile(), { PORT: '9000', AUTH_USERNAME: 'the librarian' });
  });

  test('throws when it cannot be read', async () => {
    await mkdir(ENV_FILE);
    assert.throws(readEnvFile, { code: 'EISDIR' });
  });
});

describe('Generating what is missing', () => {
  test('writes it to a file that only its owner may read', async () => {
    const { variables, generated } = generateMissing({ PORT: '9000' });

    assert.deepEqual(generated, NAMES);
    assert.deepEqual({ ...readEnvFile(), PORT: '9000' }, variables);
    assert.equal((await stat(ENV_FILE)).mode & 0o777, 0o600);
    assert.deepEqual(await readdir('.'), [ENV_FILE]);
  });

  test('makes long secrets that differ from start to start', async () => {
    const first = generateMissing({}).variables;
    await writeFile(ENV_FILE, '');
    const second = generateMissing({}).variables;

    assert.ok(Buffer.byteLength(first.SECRET_TOKEN ?? '') >= 32);
    assert.ok(Buffer.byteLength(first.AUTH_PASSWORD ?? '') >= 16);
    assert.equal(first.AUTH_USERNAME, 'admin');
    assert.notEqual(first.SECRET_TOKEN, second.SECRET_TOKEN);
    assert.notEqual(first.AUTH_PASSWORD, second.AUTH_PASSWORD);
  });

  test('writes nothing when nothing is missing, or the username alone', async () => {
    const { AUTH_USERNAME, ...secrets } = COMPLETE;
    for (const variables of [{ ...secrets, AUTH_USERNAME }, secrets]) {
      assert.deepEqual(generateMissing(variables), { variables, generated: [] });
    }
    assert.deepEqual(await readdir('.'), []);
  });

  test('keeps what is set, and every line of the file', async () => {
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
    test(`takes what another process has generated meanwhile, in ${where}`, async () => {
      if (text !== undefined) await writeFile(ENV_FILE, text);
      // Both have looked into the file before either writes.
      const seen = readEnvFile();
      const first = generateMissing(seen);
      const second = generateMissing(seen);

      assert.deepEqual(second, { variables: first.variables, generated: [] });
      assert.deepEqual(readEnvFile(), first.variables);
    });
  }

  test('takes the file from the eyes of others', async () => {
    await writeFile(ENV_FILE, 'PORT=9000\n');
    await chmod(ENV_FILE, 0o644);
    generateMissing({});
    assert.equal((await stat(ENV_FILE)).mode & 0o777, 0o600);
  });
});

test('A variable that is empty counts as unset', () => {
  assert.deepEqual(withoutEmpty({ A: 'a', B: '', C: undefined, D: ' ' }), { A: 'a', D: ' ' });
});
