import { posix } from 'node:path';

/** What may be imported where. Paths count from `src/`. */
export interface ImportRule {
  /** The rule in words. */
  readonly rule: string;
  /** The modules that it is about. */
  readonly modules: RegExp;
  /** The only modules of ours that these may import. */
  readonly mayImport?: RegExp;
  /** Modules of ours, packages and modules of Node that these may not import. */
  readonly mayNotImport?: RegExp;
}

/** The modules of the service: their sources by their paths within `src/`. */
export type Sources = ReadonlyMap<string, string>;

/** What a module imports: paths within `src/` for modules of ours, and the names of packages as they are written. */
export function importsOf(path: string, source: string): string[] {
  const statements = source.matchAll(/^(?:import|export)\s(?:[^'"]*?\sfrom\s)?['"]([^'"]+)['"]/gm);
  const calls = source.matchAll(/\b(?:import|require)\(\s*['"]([^'"]+)['"]/g);
  return [...statements, ...calls].map(([, specifier = '']) =>
    specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier,
  );
}

/** Where sources break rules, one line each. */
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

/** The first cycle of imports, as the modules on its way, or undefined when there is none. */
export function findCycle(sources: Sources): string[] | undefined {
  const isDone = new Set<string>();
  const visit = (path: string, way: readonly string[]): string[] | undefined => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path];
    const source = sources.get(path);
    if (source === undefined || isDone.has(path)) return undefined;
    for (const imported of importsOf(path, source)) {
      const cycle = visit(imported, [...way, path]);
      if (cycle) return cycle;
    }
    isDone.add(path);
    return undefined;
  };
  for (const path of sources.keys()) {
    const cycle = visit(path, []);
    if (cycle) return cycle;
  }
  return undefined;
}
