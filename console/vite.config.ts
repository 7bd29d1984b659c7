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

const SERVICE = process.env.SERVICE_URL ?? 'http://localhost:8080';

export default defineConfig({
  // The page works wherever it is put, also behind a proxy with a path of its own.
  base: './',
  build: { target: 'es2024', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  // A file of texts is imported as a whole.
  json: { namedExports: false },
  // What `npm run console` serves: the page from its sources, at /console/ as always, and the API of a running service.
  server: { proxy: { '^/(token|books?)\\b': SERVICE }, open: false },
  plugins: [compress],
});
