import assert from 'node:assert/strict';
import { type Metric, readExposition } from './exposition.ts';

export async function scrape(url: string): Promise<Map<string, Metric>> {
  return readExposition(await scrapeText(url));
}

/** Requests the metrics on a new connection, and asserts the headers of the response. */
export async function scrapeText(url: string): Promise<string> {
  const response = await fetch(`${url}/metrics`, { headers: { connection: 'close' } });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  assert.equal(response.headers.get('cache-control'), 'no-store');
  return response.text();
}
