import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { PASSWORD, type Service, startService, USERNAME } from '../../testkit/service.ts';
import { store } from '../console/books.ts';
import { ROOT } from '../project/files.ts';
import { ConsolePages, chooseInMenu } from './console-pages.ts';

const FOLDER = join(ROOT, 'console/src/language');
const LANGUAGES = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.later.json'))
  .map((name) => name.replace('.later.json', ''));

const ENGLISH = textsOf('en');
const SOURCES = readdirSync(join(ROOT, 'console/src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => readFileSync(join(ROOT, 'console/src', name), 'utf8'))
  .join('\n');

/** The texts of a language, each by its path, such as `errors.timeout`. */
function textsOf(language: string): Map<string, string> {
  const flatten = (value: unknown, path: string): [string, string][] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, each]) => flatten(each, path === '' ? name : `${path}.${name}`))
      : [[path, String(value)]];
  return new Map(
    [`${language}.json`, `${language}.later.json`].flatMap((name) =>
      flatten(JSON.parse(readFileSync(join(FOLDER, name), 'utf8')), ''),
    ),
  );
}

const PLURAL = /\{(\w+), plural,((?: =?\w+ \{(?:[^{}]|\{\w+\})*\})+)\}/g;

/** The names of the values in a text, and the categories of each plural. */
function partsOf(text: string): { names: string[]; plurals: string[][]; rest: string } {
  const names = new Set<string>();
  const plurals: string[][] = [];
  const withoutPlurals = text.replace(PLURAL, (_, name: string, cases: string) => {
    names.add(name);
    plurals.push([...cases.matchAll(/ (=?\w+) \{/g)].map(([, category = '']) => category));
    return cases.replace(/ =?\w+ \{((?:[^{}]|\{\w+\})*)\}/g, '$1');
  });
  const rest = withoutPlurals.replace(/\{(\w+)\}/g, (_, name: string) => {
    names.add(name);
    return '';
  });
  return { names: [...names].toSorted(), plurals, rest };
}

for (const language of LANGUAGES) {
  describe(`The texts in ${new Intl.DisplayNames('en', { type: 'language' }).of(language)}`, () => {
    const texts = textsOf(language);

    test('are complete, and none is superfluous', () => {
      assert.deepEqual([...texts.keys()], [...ENGLISH.keys()]);
      for (const [name, text] of texts) assert.equal(text, text.trim(), name);
      assert.deepEqual(
        [...texts].filter(([, text]) => text === ''),
        [],
      );
    });

    test('have the same values as in English, and each plural has the categories of the language', () => {
      const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
      for (const [name, text] of texts) {
        const { names, plurals, rest } = partsOf(text);
        assert.deepEqual(names, partsOf(ENGLISH.get(name) ?? '').names, name);
        assert.doesNotMatch(rest, /[{}']/, name);
        for (const categories of plurals) {
          const ofLanguage = categories.filter((category) => !category.startsWith('='));
          assert.deepEqual(ofLanguage.toSorted(), pluralCategories.toSorted(), name);
        }
      }
    });

    test('have the direction of the language', () => {
      assert.equal(texts.get('direction'), new Intl.Locale(language).getTextInfo().direction);
    });
  });
}

describe('The English texts', () => {
  test('are all used', () => {
    const groups = new Set([...ENGLISH.keys()].map((path) => path.split('.')[0] as string));
    const unused = [...groups].filter((name) => !new RegExp(`\\b${name}\\b`).test(SOURCES));
    assert.deepEqual(unused, []);
  });

  test('get the values that they name', () => {
    const calls = [
      ...SOURCES.matchAll(/\bformatMessage\(\s*(?:t|(?:texts|allTexts)\.value)\.([\w.]+),\s*\{([^}]*)\}/g),
    ];
    assert.ok(calls.length > 30, String(calls.length));
    for (const [call, name = '', values = ''] of calls) {
      if (values.includes('...')) continue;
      const given = [...values.matchAll(/(?:^|,)\s*(\w+)\s*(?=[:,]|$)/g)].map(([, value = '']) => value);
      assert.deepEqual(given.toSorted(), partsOf(ENGLISH.get(name) ?? '').names, call);
    }
  });
});

describe('The console', () => {
  let pages: ConsolePages;
  let service: Service;
  before(async () => {
    [pages, service] = await Promise.all([ConsolePages.start(), startService()]);
    await store(service, [{ title: 'Don Quijote de la Mancha', author: 'Miguel de Cervantes', year: 1605 }]);
  });
  after(() => Promise.all([pages[Symbol.asyncDispose](), service[Symbol.asyncDispose]()]));

  for (const language of LANGUAGES) {
    const name = new Intl.DisplayNames('en', { type: 'language' }).of(language);
    test(`works in ${name} on a screen of 320 px when the browser prefers it`, async (context) => {
      const page = await pages.open(context, `${service.url}/console/`, {
        locale: `${language}-CH`,
        viewport: { width: 320, height: 640 },
      });
      if (!page) return;
      const texts = textsOf(language);
      const textOf = (path: string) => texts.get(path) ?? '';
      const button = (path: string) => page.getByRole('button', { name: textOf(path), exact: true });

      await button('signIn').waitFor();
      const { lang, dir } = (await page.evaluate(
        '({ lang: document.documentElement.lang, dir: document.documentElement.dir })',
      )) as { lang: string; dir: string };
      assert.deepEqual([lang, dir, await page.title()], [language, textOf('direction'), textOf('catalogue')]);
      await assertReadable(page, 'sign-in');
      await page.getByLabel(textOf('username')).fill(USERNAME);
      await page.getByLabel(textOf('password'), { exact: true }).fill(PASSWORD);
      await button('signIn').click();
      const one = /one \{#(.*?)\}/.exec(textOf('count'))?.[1] ?? '';
      await page.locator('.count').getByText(`1${one}`, { exact: true }).waitFor();
      await assertReadable(page, 'catalogue');

      await page.getByText('Don Quijote').click();
      await page.getByRole('dialog', { name: textOf('editBook') }).waitFor();
      await button('save').waitFor();
      await assertReadable(page, 'edit');
      await button('cancel').click();
      await page.locator('.menu-button').click();
      assert.equal(await page.getByLabel(textOf('language')).locator('option').count(), LANGUAGES.length);
      await assertReadable(page, 'menu');
      await page.keyboard.press('Escape');
      await chooseInMenu(page, textOf('import'));
      await button('chooseFile').waitFor();
      await assertReadable(page, 'import');
      await page.keyboard.press('Escape');
      await chooseInMenu(page, textOf('export'));
      await page.getByRole('dialog').getByText('CSV').waitFor();
      await assertReadable(page, 'export');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+/');
      await page.getByRole('dialog', { name: textOf('shortcuts') }).waitFor();
      await assertReadable(page, 'shortcuts');
    });
  }
});

/** Asserts that no text is cut off at the side of the window, lacks a value, or is unknown. */
async function assertReadable(page: Page, state: string): Promise<void> {
  const [text, content, window] = (await page.evaluate(
    '[document.body.innerText, document.documentElement.scrollWidth, innerWidth]',
  )) as [string, number, number];
  assert.doesNotMatch(text, /[{}]|undefined/, state);
  assert.equal(content, window, state);
}
