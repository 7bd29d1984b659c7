import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { VARIABLES } from '../../src/config/variables.ts';
import { Connection } from '../../testkit/connection.ts';
import type { Metric } from '../../testkit/exposition.ts';
import { scrape } from '../../testkit/scrape.ts';
import { type Service, startService } from '../../testkit/service.ts';
import { readYaml } from '../project/deployment.ts';
import { readText } from '../project/files.ts';
import { codeIn, rowsUnder } from '../project/markdown.ts';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string };
}

const dashboard = readText('deploy/grafana/bookkeeping.json');
const { panels } = JSON.parse(dashboard) as { panels: Panel[] };
const targets = panels.flatMap((panel) => panel.targets ?? []);
const rules = readYaml('deploy/prometheus/alerts.yaml').at('groups', 0, 'rules').value as readonly Rule[];
const job = readYaml('deploy/prometheus/prometheus.yaml').at('scrape_configs', 0);

/** The metrics of a service on each engine. */
const metrics = new Map<string, Metric>();
before(async () => {
  for (const engine of ['SQLite', 'PostgreSQL'] as const) {
    await using service = await startService({ engine, hasHistory: true });
    await causeEvents(service);
    for (const [name, metric] of await scrape(service.url)) metrics.set(name, metric);
  }
});

describe('The Grafana dashboard', () => {
  test('uses existing metrics and labels, and shows every metric', () => {
    for (const { expr, legendFormat } of targets) assertMetrics(expr, legendFormat);
    const named = metricsIn(dashboard);
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

describe('The alerts for Prometheus', () => {
  test('use existing metrics and labels', () => {
    assert.ok(rules.length > 0);
    // `up` is a metric of Prometheus itself.
    for (const { expr, annotations } of rules) {
      if (!expr.startsWith('up{')) assertMetrics(expr, annotations.summary.replaceAll('$labels.', ''));
    }
  });

  test('select the job of the example of a scrape, which has the path and port of the service', () => {
    for (const { alert, expr } of rules) {
      for (const [selector] of expr.matchAll(/\{[^}]*\}/g))
        assert.ok(selector.includes(`job="${job.at('job_name').text}"`), `${alert}: ${selector}`);
    }
    assert.match(job.at('static_configs', 0, 'targets', 0).text, new RegExp(`:${VARIABLES.PORT.fallback}$`));
    assert.equal(job.at('metrics_path').value, undefined, 'the default is /metrics');
    const files = readYaml('deploy/prometheus/prometheus.yaml').at('rule_files').value;
    assert.deepEqual(files, ['alerts.yaml']);
  });

  test('are all in docs/operating.md', () => {
    const documented = rowsUnder(readText('docs/operating.md'), 'alert', 'when', 'what to do');
    assert.deepEqual(
      documented.map(([name = '']) => codeIn(name)),
      rules.map(({ alert }) => alert),
    );
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

function metricsIn(text: string): Set<string> {
  return new Set(text.match(/\b(?:bookkeeping|process|nodejs)_[a-z0-9_]+/g));
}

/** Asserts that the metrics of a query exist, and have all labels that it and its text use. */
function assertMetrics(expr: string, text: string): void {
  const named = metricsIn(expr);
  const samples = [...metrics.values()]
    .flatMap((metric) => metric.samples)
    .filter(({ name }) => named.has(name));
  assert.ok(named.size > 0, expr);
  for (const name of named)
    assert.ok(
      samples.some((sample) => sample.name === name),
      `${name} does not exist`,
    );
  const known = new Set([...samples.flatMap((sample) => Object.keys(sample.labels)), ...OF_PROMETHEUS]);
  const matched = [...expr.matchAll(/([a-z]+)(?:=~|!~|!=|=)"/g)].map(([, label]) => label);
  const grouped = [...expr.matchAll(/(?:by|on) \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '));
  const inText = [...text.matchAll(/\{\{ ?([a-z]+) ?\}\}/g)].map(([, label]) => label);
  for (const label of [...matched, ...grouped, ...inText])
    assert.ok(known.has(label ?? ''), `${label} in ${expr}`);
}
