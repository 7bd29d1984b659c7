import { posix } from 'node:path';

/** A rule for imports. Paths are relative to `src/`, so that those of products begin with `../`. */
export interface ImportRule {
  /** The description in error messages. */
  readonly rule: string;
  /** The modules that it applies to. */
  readonly modules: RegExp;
  /** The only modules of ours that these may import. */
  readonly mayImport?: RegExp;
  /** Modules of ours, packages and modules of Node that these may not import. */
  readonly mayNotImport?: RegExp;
}

/** Sources by their paths, relative to `src/`. */
export type Sources = ReadonlyMap<string, string>;

/** The imports of a module: paths relative to `src/`, and packages. */
export function importsOf(path: string, source: string): string[] {
  const statements = source.matchAll(/^(?:import|export)\s(?:[^'"]*?\sfrom\s)?['"]([^'"]+)['"]/gm);
  const calls = source.matchAll(/\b(?:import|require)\(\s*['"]([^'"]+)['"]/g);
  return [...statements, ...calls].map(([, specifier = '']) =>
    specifier.startsWith('.')
      ? posix.relative('src', posix.join('src', posix.dirname(path), specifier))
      : specifier,
  );
}

/** One line for each import that violates a rule. */
export function violationsOf(sources: Sources, rules: readonly ImportRule[]): string[] {
  const violations: string[] = [];
  for (const [path, source] of sources) {
    for (const { rule, modules, mayImport, mayNotImport } of rules) {
      if (!modules.test(path)) continue;
      for (const imported of importsOf(path, source)) {
        const isAllowed = !mayImport || !sources.has(imported) || mayImport.test(imported);
        if (!isAllowed || mayNotImport?.test(imported))
          violations.push(`${path} imports ${imported}: ${rule}`);
      }
    }
  }
  return violations;
}

/** The modules of a cycle of imports, or undefined. */
export function findCycle(sources: Sources): string[] | undefined {
  const visited = new Set<string>();
  const visit = (path: string, trail: readonly string[]): string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    const source = sources.get(path);
    if (source === undefined || visited.has(path)) return undefined;
    for (const imported of importsOf(path, source)) {
      const cycle = visit(imported, [...trail, path]);
      if (cycle) return cycle;
    }
    visited.add(path);
    return undefined;
  };
  for (const path of sources.keys()) {
    const cycle = visit(path, []);
    if (cycle) return cycle;
  }
  return undefined;
}
