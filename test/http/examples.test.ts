import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { createFolder } from '../../testkit/folder.ts';
import { PASSWORD, startService, USERNAME } from '../../testkit/service.ts';
import { readText } from '../project/files.ts';

const DOCUMENT = readText('docs/examples.md');

const PRINTED = `1 The Iliad -750
2 The Odyssey -720
1 The Iliad -762
404 Book not found
`;

/** What curl prints: the responses. */
const ILIAD = { id: 1, title: 'The Iliad', author: 'Homer', year: -750 };
const ODYSSEY = { id: 2, title: 'The Odyssey', author: 'Homer', year: -720 };
const RESPONSES = [
  { status: 201, message: 'Book created successfully', data: ILIAD },
  { status: 201, message: 'Book created successfully', data: ODYSSEY },
  { status: 200, message: 'Books retrieved successfully', data: [ILIAD] },
  { status: 200, message: 'Books retrieved successfully', data: [ODYSSEY] },
  { status: 200, message: 'Book updated successfully', data: { ...ILIAD, year: -762 } },
  { status: 404, message: 'Book not found', data: null },
];

/** How to run the example of each language, and what it prints. */
const EXAMPLES = [
  {
    language: 'sh',
    tool: 'curl',
    file: 'example.sh',
    command: ['sh', 'example.sh'],
    printed: RESPONSES.map((response) => `${JSON.stringify(response)}\n`).join(''),
  },
  {
    language: 'python',
    tool: 'python3',
    file: 'example.py',
    command: ['python3', 'example.py'],
    printed: PRINTED,
  },
  {
    language: 'go',
    tool: 'go',
    file: 'example.go',
    command: ['go', 'run', 'example.go'],
    printed: PRINTED,
  },
] as const;

describe('docs/examples.md', () => {
  for (const { language, tool, file, command, printed } of EXAMPLES) {
    const skip = isInstalled(tool) ? false : `${tool} is not installed`;
    test(`has an example that works: ${language}`, { skip }, async () => {
      await using folder = await createFolder();
      await using service = await startService();
      await writeFile(join(folder.path, file), blockOf(language));
      const [program, ...flags] = command;
      const env = {
        ...process.env,
        BOOKS_URL: service.url,
        BOOKS_USERNAME: USERNAME,
        BOOKS_PASSWORD: PASSWORD,
        GOTOOLCHAIN: 'local',
      };
      const { stdout } = await promisify(execFile)(program, flags, { cwd: folder.path, env });
      assert.equal(stdout, printed);
    });
  }
});

/** Whether a program starts, whatever it says of its arguments. */
function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined;
}

/** The last code block in a language: the first one in sh sets the variables. */
function blockOf(language: string): string {
  const blocks = [...DOCUMENT.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))];
  return blocks.at(-1)?.[1] ?? '';
}
