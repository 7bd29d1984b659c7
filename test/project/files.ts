import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The root of the project. */
export const ROOT = join(import.meta.dirname, '..', '..');

/** The text of a file, by its path from the root of the project. */
export function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

export function exists(path: string): boolean {
  return existsSync(join(ROOT, path));
}

/** The paths of all modules of the service, such as `src/api/book-handlers.ts`. */
export function listSources(): string[] {
  return globSync('src/**/*.ts', { cwd: ROOT }).toSorted();
}

/** The paths of all modules of the products beside the service: their folders are workspaces. */
export function listProductSources(): string[] {
  return globSync('{client,formats,mcp,web-hook}/**/*.ts', {
    cwd: ROOT,
    exclude: ['**/node_modules', '**/dist'],
  }).toSorted();
}

/** The paths of what tests, campaigns, the benchmark and the conformance kit share, and of the latter three. */
export function listToolSources(): string[] {
  return globSync('{testkit,campaigns,bench,conformance}/**/*.ts', { cwd: ROOT }).toSorted();
}

/** The paths of all modules of the web console, such as `console/src/main.tsx`. */
export function listConsoleSources(): string[] {
  return globSync('console/src/**/*.{ts,tsx}', { cwd: ROOT }).toSorted();
}

/** The paths of all modules of the project, tests and scripts, except `bench/peers`, which have their own package.json. */
export function listModules(): string[] {
  const folders =
    '{src,client,console,formats,mcp,web-hook,test,testkit,campaigns,conformance,bench,scripts,bin}';
  return globSync(`${folders}/**/*.{ts,tsx,mjs,js}`, {
    cwd: ROOT,
    exclude: ['**/node_modules', '**/dist', 'bench/peers'],
  }).toSorted();
}

/** The paths of all lock files, of any package manager. */
export function listLockFiles(): string[] {
  const names = '{package-lock.json,npm-shrinkwrap.json,yarn.lock,pnpm-lock.yaml,bun.lock}';
  return globSync(`**/${names}`, { cwd: ROOT, exclude: ['**/node_modules', '**/dist'] }).toSorted();
}

/** The properties of package.json that tests use. */
export interface Package {
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly engines: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
}

export function readPackage(path = 'package.json'): Package {
  return JSON.parse(readText(path)) as Package;
}
