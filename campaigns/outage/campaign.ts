import assert from 'node:assert/strict';
import { createDatabase, startCluster } from '../../testkit/postgres.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { raise } from '../figures.ts';
import { Trial } from '../trial.ts';
import { outagesOf } from './outages.ts';
import { runOutage, type Waits } from './run-outage.ts';

export const campaign: Campaign = {
  summary: 'PostgreSQL restarts, crashes, freezes, is down and terminates all connections, under 16 clients',
  rounds: [10],
  engines: ['PostgreSQL'],
  run: (options) => runOutages(options, { share: 1, isTimed: true }),
};

/** How to run the outages. */
interface OutageOptions {
  /** The fraction of their full length that the long ones take. */
  readonly share: number;
  /** Whether the waits of clients are checked. */
  readonly isTimed: boolean;
}

/** The time limit of every response, and of the first success after the outage. */
const RESPONSE_MS_MAX = 2_000;

/** Causes every outage in every round. @returns the longest waits, in milliseconds */
export async function runOutages(
  { rounds, seed, report }: CampaignOptions,
  { share, isTimed }: OutageOptions,
): Promise<Figures> {
  await using cluster = await startCluster();
  const { url } = await createDatabase({ server: cluster.url });
  await using trial = await Trial.open({ dbUrl: url, seed });
  await trial.start();
  const figures: Record<string, number> = {};
  for (let round = 1; round <= rounds; round++) {
    for (const [name, outage] of Object.entries(outagesOf(cluster, url, share))) {
      const waits = await runOutage(trial, outage);
      report(`${round}: ${name}: ${describeWaits(waits)}`);
      if (isTimed) assertShort(waits);
      for (const [wait, ms] of Object.entries(waits)) raise(figures, `${name}, ${wait}`, Math.round(ms));
    }
  }
  await trial.stop();
  return { ...trial.writes, ...figures };
}

/** The waits of clients, for a report. */
export function describeWaits({ slowestMs, firstMs, last503Ms }: Waits): string {
  const [slowest, first, last] = [slowestMs, firstMs, last503Ms].map((ms) => `${Math.round(ms)} ms`);
  return `slowest response ${slowest}; after the outage: first success ${first}, last 503 ${last}`;
}

function assertShort({ slowestMs, firstMs }: Waits): void {
  assert.ok(slowestMs <= RESPONSE_MS_MAX, `a response took ${slowestMs} ms`);
  assert.ok(firstMs <= RESPONSE_MS_MAX, `no request succeeded for ${firstMs} ms after the outage`);
}
