import assert from 'node:assert/strict';
import { type Metric, readExposition } from './exposition.ts';

/** Asks a service for its metrics, and reads them. */
export async function scrape(url: string): Promise<Map<string, Metric>> {
  return readExposition(await scrapeText(url));
}

/** Asks a service for its metrics on a connection of its own, and asserts that the answer says what it is. */
export async function scrapeText(url: string): Promise<string> {
  const answer = await fetch(`${url}/metrics`, { headers: { connection: 'close' } });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  return answer.text();
}
