import assert from 'node:assert/strict';
import { createDatabase, startCluster } from '../../test/support/postgres.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { OutageTrial, type Waits } from './outage-trial.ts';
import { outagesOf } from './outages.ts';

export const campaign: Campaign = {
  summary: 'PostgreSQL restarts, dies, freezes, is away and sends everybody away, under 16 clients',
  rounds: [10],
  engines: ['PostgreSQL'],
  run: (options) => loseStore(options, { share: 1, isTimed: true }),
};

/** How outages are played. */
export interface Play {
  /** How much of their time the long ones take. */
  readonly share: number;
  /** Whether what clients notice is held to the goals. */
  readonly isTimed: boolean;
}

/** How long anybody may wait for an answer, and for the first one that is not a refusal once the store is back. */
const ANSWER_MS_MAX = 2_000;

/** Lets every outage befall one service in every round. @returns the longest waits, in milliseconds */
export async function loseStore(
  { rounds, seed, report }: CampaignOptions,
  { share, isTimed }: Play,
): Promise<Figures> {
  await using cluster = await startCluster();
  const { url } = await createDatabase({ server: cluster.url });
  await using trial = await OutageTrial.start(url, seed);
  const figures: Record<string, number> = {};
  for (let round = 1; round <= rounds; round++) {
    for (const [name, outage] of Object.entries(outagesOf(cluster, url, share))) {
      const waits = await trial.runThrough(outage);
      report(`${round}: ${name}: ${inWords(waits)}`);
      if (isTimed) assertShort(waits);
      for (const [wait, ms] of Object.entries(waits)) {
        figures[`${name}, ${wait}`] = Math.max(figures[`${name}, ${wait}`] ?? 0, Math.round(ms));
      }
    }
  }
  await trial.stop();
  return { ...trial.writes, ...figures };
}

/** What clients noticed, for a report. */
export function inWords({ slowestMs, firstMs, lastRefusalMs }: Waits): string {
  const [slowest, first, last] = [slowestMs, firstMs, lastRefusalMs].map((ms) => `${Math.round(ms)} ms`);
  return `slowest answer ${slowest}; after the return first success ${first}, last 503 ${last}`;
}

function assertShort({ slowestMs, firstMs }: Waits): void {
  assert.ok(slowestMs <= ANSWER_MS_MAX, `somebody waited ${slowestMs} ms for an answer`);
  assert.ok(firstMs <= ANSWER_MS_MAX, `nobody was served for ${firstMs} ms after the return`);
}
