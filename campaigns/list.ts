import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Campaign } from './campaign.ts';

/** A campaign and the name of its folder. */
export interface Named {
  readonly name: string;
  readonly campaign: Campaign;
}

/** The names of the campaigns, which are those of the folders. */
export function listNames(): string[] {
  const entries = readdirSync(import.meta.dirname, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return folders.toSorted((one, other) => one.localeCompare(other));
}

export async function load(name: string): Promise<Named> {
  const { campaign } = (await import(join(import.meta.dirname, name, 'campaign.ts'))) as {
    campaign: Campaign;
  };
  return { name, campaign };
}

/** All campaigns, by name. */
export function loadAll(): Promise<Named[]> {
  return Promise.all(listNames().map(load));
}
