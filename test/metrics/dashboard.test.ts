import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Connection } from '../http/connection.ts';
import { type Service, startService } from '../http/service.ts';
import { readText } from '../project/files.ts';
import type { Metric, Sample } from './exposition.ts';
import { scrape } from './scrape.ts';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const text = readText('deploy/grafana/bookkeeping.json');
const { panels } = JSON.parse(text) as { panels: Panel[] };
const targets = panels.flatMap((panel) => panel.targets ?? []);

describe('The Grafana dashboard', () => {
  test('uses existing metrics and labels, and shows every metric', async () => {
    const metrics = new Map<string, Metric>();
    for (const engine of ['SQLite', 'PostgreSQL'] as const) {
      await using service = await startService({ engine });
      await causeEvents(service);
      for (const [name, metric] of await scrape(service.url)) metrics.set(name, metric);
    }
    const samples = [...metrics.values()].flatMap((metric) => metric.samples);
    const known = new Set(samples.map(({ name }) => name));
    const named = new Set(text.match(/\b(?:bookkeeping|process|nodejs)_[a-z_]+/g));
    assert.deepEqual(
      [...named].filter((name) => !known.has(name)),
      [],
    );
    for (const { expr, legendFormat } of targets) assertLabels(expr, legendFormat, samples);
    const shown = (name: string) => named.values().some((sample) => sample.startsWith(name));
    assert.deepEqual(
      [...metrics.keys()].filter((name) => !shown(name)),
      [],
    );
  });

  test('has panels with unique ids and titles that do not overlap', () => {
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    assert.equal(new Set(panels.map(({ title }) => title)).size, panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
    );
    assert.equal(new Set(cells).size, cells.length);
    for (const { type, targets: shown = [] } of panels) assert.equal(shown.length > 0, type !== 'row');
  });
});

/** Causes the events of metrics that are absent without them. */
async function causeEvents(service: Service): Promise<void> {
  await service.fetch('POST', '/book', '{}');
  using connection = await Connection.open(service);
  await connection.send('nonsense\r\n\r\n');
  await connection.response();
}

/** Labels that Prometheus adds. */
const OF_PROMETHEUS = ['job', 'instance'];

/** Asserts that the metrics of a query have all labels that it uses. */
function assertLabels(expr: string, legend: string, samples: readonly Sample[]): void {
  const metrics = new Set(expr.match(/\b(?:bookkeeping|process|nodejs)_[a-z_]+/g));
  const labels = samples
    .filter(({ name }) => metrics.has(name))
    .flatMap((sample) => Object.keys(sample.labels));
  const known = new Set([...labels, ...OF_PROMETHEUS]);
  const matched = [...expr.matchAll(/([a-z]+)(?:=~|!~|!=|=)"/g)].map(([, label]) => label);
  const grouped = [...expr.matchAll(/(?:by|on) \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '));
  const inLegend = [...legend.matchAll(/\{\{([a-z]+)\}\}/g)].map(([, label]) => label);
  for (const label of [...matched, ...grouped, ...inLegend])
    assert.ok(known.has(label ?? ''), `${label} in ${expr}`);
}
