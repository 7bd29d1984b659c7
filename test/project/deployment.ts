import { globSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { ROOT, readText } from './files.ts';

/** The files of a pattern such as `deploy/**\/*.yaml`. */
export function listFiles(pattern: string): string[] {
  return globSync(pattern, { cwd: ROOT }).toSorted();
}

/** Reads a YAML file with one document. @throws Error for invalid YAML or duplicate keys */
export function readYaml(path: string): Yaml {
  const [document, ...others] = parseAllDocuments(readText(path), { merge: true });
  if (document === undefined || !('toJS' in document) || others.length > 0) {
    throw new Error(`${path} is not one document`);
  }
  const [problem] = [...document.errors, ...document.warnings];
  if (problem) throw new Error(`${path}: ${problem.message}`);
  return new Yaml(document.toJS());
}

/** A value within a document. */
export class Yaml {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }

  /** The value at a path of keys and indexes; undefined when one is missing. */
  at(...path: readonly (string | number)[]): Yaml {
    let value = this.value;
    for (const key of path) value = (value as Record<string | number, unknown> | undefined)?.[key];
    return new Yaml(value);
  }

  /** The value as text. */
  get text(): string {
    return String(this.value);
  }

  /** The elements of a list. */
  list(): Yaml[] {
    return Array.isArray(this.value) ? this.value.map((value) => new Yaml(value)) : [];
  }

  /** The keys of a map. */
  keys(): string[] {
    return Object.keys((this.value as object | undefined) ?? {});
  }
}

/** An instruction of a Dockerfile, such as `COPY` with `src ./src`. */
export interface Instruction {
  readonly name: string;
  readonly value: string;
}

export function readDockerfile(): Instruction[] {
  const text = readText('Dockerfile')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '');
  return text.split('\n').flatMap((line) => {
    const [, name, value] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [{ name, value }];
  });
}

/** The values of a directive of nginx or a setting of systemd, such as `keepalive_timeout 60s;` or `Environment=A=b`. */
export function valuesOf(path: string, name: string): string[] {
  const line = new RegExp(`^[ \\t]*${name}(?:[ \\t]+|=)([^;\\n]*);?$`, 'gm');
  return [...readText(path).matchAll(line)].map(([, value = '']) => value);
}

/** Converts a time such as `300ms` or `5s` to milliseconds. */
export function milliseconds(text: string): number {
  const [, number, unit = 's'] = /^([0-9]+)(ms|s|m)?$/.exec(text) ?? [];
  return Number(number) * { ms: 1, s: 1_000, m: 60_000 }[unit as 'ms' | 's' | 'm'];
}
