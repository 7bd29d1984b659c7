import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

/** Leaves the compressed forms beside each file: once here, rather than at each request. */
const compress: Plugin = {
  name: 'compress',
  apply: 'build',
  writeBundle({ dir = '' }) {
    for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
      if (!['.html', '.css', '.js', '.svg'].includes(extname(name))) continue;
      const file = join(dir, name);
      const bytes = readFileSync(file);
      writeFileSync(`${file}.br`, brotliCompressSync(bytes));
      writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
    }
  },
};

interface Modules {
  getModuleInfo(id: string): { readonly isEntry: boolean; readonly importers: readonly string[] } | null;
}

/** Puts the modules of the first paint into one file; those that a later file also imports would be in another one. */
function firstPaint(id: string, modules: Modules): string | null {
  const [seen, next] = [new Set<string>(), [id]];
  for (let each = next.pop(); each !== undefined; each = next.pop()) {
    const module = modules.getModuleInfo(each);
    if (module?.isEntry) return 'console';
    for (const importer of module?.importers ?? []) if (!seen.has(importer)) next.push(importer);
    seen.add(each);
  }
  return null;
}

const SERVICE = process.env.SERVICE_URL ?? 'http://localhost:8080';

export default defineConfig({
  // The page works wherever it is put, also behind a proxy with a path of its own.
  base: './',
  build: {
    target: 'es2024',
    assetsInlineLimit: 0,
    modulePreload: false,
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: firstPaint, debugName: 'first paint' }] } },
    },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  // A file of texts is imported as a whole.
  json: { namedExports: false },
  // What `npm run console` serves: the page from its sources, at /console/ as always, and the API of a running service.
  server: { proxy: { '^/(token|books?|changes|console/features.json)\\b': SERVICE }, open: false },
  plugins: [compress],
});
