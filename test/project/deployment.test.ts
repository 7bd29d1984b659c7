import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HEALTH_PATH, READINESS_PATH } from '../../src/api/health-handlers.ts';
import { BOOKS_BYTES_MAX, FIXED_LIMITS } from '../../src/http/limits.ts';
import { outcomes } from '../../src/http/outcomes.ts';
import { listFiles, milliseconds, readDockerfile, readYaml, valuesOf } from './deployment.ts';
import { exists, readPackage, readText } from './files.ts';
import { codeIn, rowsUnder } from './markdown.ts';

const NGINX = 'deploy/nginx/bookkeeping.conf';
const CADDY = 'deploy/caddy/Caddyfile';
const HAPROXY = 'deploy/haproxy/haproxy.cfg';
const UNIT = 'deploy/systemd/bookkeeping.service';

const dockerfile = readDockerfile();
const lastValue = (name: string) =>
  dockerfile.findLast((instruction) => instruction.name === name)?.value ?? '';
const compose = readYaml('deploy/compose.yaml').at('services', 'bookkeeping');
const pod = readYaml('deploy/kubernetes/deployment.yaml').at('spec', 'template', 'spec');
const container = pod.at('containers', 0);
const probes = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((name) => container.at(name));

const rows = rowsUnder(readText('README.md'), 'variable', 'default');
const variables = rows.map(([name = '']) => codeIn(name) ?? '');
const port = rows.find(([name]) => name === '`PORT`')?.[1] ?? '';

/** What Node and SQLite read themselves. */
const NOT_OURS = ['NODE_COMPILE_CACHE', 'SQLITE_TMPDIR'];

/** How long the service may take to end, crowded machines aside. */
const STOP_MS = FIXED_LIMITS.drainMs + FIXED_LIMITS.graceMs;

describe('The Dockerfile', () => {
  const copied = dockerfile
    .filter(({ name, value }) => name === 'COPY' && !value.startsWith('--from='))
    .flatMap(({ value }) => value.split(/ +/).slice(0, -1));

  test('copies what exists, and what .dockerignore lets in', () => {
    const letIn = [...readText('.dockerignore').matchAll(/^!(.*)$/gm)].map(([, path = '']) => path);
    assert.deepEqual(
      copied.filter((path) => !exists(path)),
      [],
    );
    const needed = new Set(copied.map((path) => path.replace(/\/.*/, '')));
    assert.deepEqual([...needed].toSorted(), letIn.toSorted());
    assert.match(readText('.dockerignore'), /^\*$/m);
  });

  test('starts the service as npm start does', () => {
    const command = (JSON.parse(lastValue('ENTRYPOINT')) as string[]).join(' ');
    assert.equal(`exec ${command}`, readPackage().scripts.start);
  });

  test('has a Node that README calls good for production', () => {
    const [, least = ''] = /In production use Node ([0-9.]+) or newer/.exec(readText('README.md')) ?? [];
    const [, version = ''] = /^NODE=([0-9]+\.[0-9]+\.[0-9]+)-/.exec(lastValue('ARG')) ?? [];
    assert.ok(least && least.localeCompare(version, 'en', { numeric: true }) <= 0, version);
  });

  test('serves as somebody else than root, and asks for the health of the process', () => {
    assert.notEqual(lastValue('USER'), 'root');
    assert.ok(lastValue('HEALTHCHECK').includes(`'${HEALTH_PATH}'`));
  });
});

describe('The files of deploy/', () => {
  test('are YAML where they say so', () => {
    const paths = listFiles('deploy/**/*.yaml');
    assert.ok(paths.length > 0);
    for (const path of paths) readYaml(path);
  });

  test('set variables that README has', () => {
    const secret = readYaml('deploy/kubernetes/secret.example.yaml');
    const names = [
      ...compose.at('environment').keys(),
      ...secret.at('stringData').keys(),
      ...container
        .at('env')
        .list()
        .map((variable) => variable.at('name').text),
      ...valuesOf(UNIT, 'Environment').map((assignment) => assignment.split('=')[0] ?? ''),
      ...lastValue('ENV')
        .split(' ')
        .map((assignment) => assignment.split('=')[0] ?? ''),
    ];
    assert.deepEqual(
      names.filter((name) => ![...variables, ...NOT_OURS].includes(name)),
      [],
    );
    for (const required of ['SECRET_TOKEN', 'AUTH_PASSWORD', 'DB_URL']) {
      assert.equal(names.filter((name) => name === required).length, required === 'DB_URL' ? 3 : 2, required);
    }
  });

  test('use the port that the service listens on', () => {
    assert.equal(lastValue('EXPOSE'), port);
    assert.match(compose.at('ports', 0).text, new RegExp(`:${port}$`));
    assert.equal(container.at('ports', 0, 'containerPort').text, port);
    const name = container.at('ports', 0, 'name').value;
    const ports = readYaml('deploy/kubernetes/service.yaml').at('spec', 'ports');
    assert.equal(ports.at(0, 'targetPort').value, name);
    for (const probe of probes) assert.equal(probe.at('httpGet', 'port').value, name);
    assert.match(readText(NGINX), new RegExp(`\\bserver 127\\.0\\.0\\.1:${port} `));
    assert.match(readText(CADDY), new RegExp(`\\breverse_proxy 127\\.0\\.0\\.1:${port} `));
  });

  test('ask for the health of the process before a restart, and for readiness before they send requests', () => {
    const paths = probes.map((probe) => probe.at('httpGet', 'path').value);
    assert.deepEqual(paths, [HEALTH_PATH, HEALTH_PATH, READINESS_PATH]);
    assert.deepEqual(valuesOf(CADDY, 'health_uri'), [READINESS_PATH]);
    assert.deepEqual(valuesOf(HAPROXY, 'http-check send meth GET uri'), [
      `${READINESS_PATH} ver HTTP/1.1 hdr Host books`,
    ]);
  });

  test('leave the service the time that a stop takes', () => {
    const delay = container
      .at('env')
      .list()
      .find((variable) => variable.at('name').value === 'STOP_DELAY_SECONDS');
    const terminationMs = Number(pod.at('terminationGracePeriodSeconds').value) * 1_000;
    assert.ok(terminationMs > Number(delay?.at('value').text) * 1_000 + STOP_MS);
    assert.ok(milliseconds(compose.at('stop_grace_period').text) > STOP_MS);
    assert.ok(milliseconds(valuesOf(UNIT, 'TimeoutStopSec')[0] ?? '') > STOP_MS);
  });

  test('start the service under systemd as npm start does', () => {
    const [, flags] = /^exec node (.*) src\/main\.ts$/.exec(readPackage().scripts.start ?? '') ?? [];
    assert.deepEqual(valuesOf(UNIT, 'ExecStart'), [`/usr/bin/node ${flags} /opt/bookkeeping/src/main.ts`]);
  });
});

describe('The manifests for Kubernetes', () => {
  const kustomization = readYaml('deploy/kubernetes/kustomization.yaml');

  test('are applied, all but the example', () => {
    const applied = kustomization
      .at('resources')
      .list()
      .map(({ text }) => `deploy/kubernetes/${text}`);
    const others = ['deploy/kubernetes/kustomization.yaml', 'deploy/kubernetes/secret.example.yaml'];
    assert.deepEqual([...applied, ...others].toSorted(), listFiles('deploy/kubernetes/*'));
  });

  test('select the copies, and name the Secret', () => {
    const deployment = readYaml('deploy/kubernetes/deployment.yaml');
    const { value: labels } = deployment.at('spec', 'template', 'metadata', 'labels');
    const budget = readYaml('deploy/kubernetes/disruption-budget.yaml');
    assert.deepEqual(deployment.at('spec', 'selector', 'matchLabels').value, labels);
    assert.deepEqual(budget.at('spec', 'selector', 'matchLabels').value, labels);
    assert.deepEqual(readYaml('deploy/kubernetes/service.yaml').at('spec', 'selector').value, labels);
    for (const spread of pod.at('topologySpreadConstraints').list()) {
      assert.deepEqual(spread.at('labelSelector', 'matchLabels').value, labels);
    }
    const secret = readYaml('deploy/kubernetes/secret.example.yaml').at('metadata', 'name').value;
    assert.equal(container.at('envFrom', 0, 'secretRef', 'name').value, secret);
  });

  test('have the version of package.json', () => {
    assert.equal(kustomization.at('images', 0, 'newTag').value, readPackage().version);
  });
});

describe('The proxies', () => {
  test('end an idle connection before the service does', () => {
    for (const time of [...valuesOf(NGINX, 'keepalive_timeout'), ...valuesOf(CADDY, 'keepalive')]) {
      assert.ok(milliseconds(time) < FIXED_LIMITS.idleMs, time);
    }
  });

  test('of nginx neither count the requests of a connection nor end it at an age, which loses requests over HTTP/2', () => {
    assert.deepEqual(valuesOf(NGINX, 'keepalive_requests'), ['1000000000']);
    assert.deepEqual(valuesOf(NGINX, 'keepalive_time'), ['365d']);
  });

  test('of nginx have a directive that only newer versions know as a comment', () => {
    assert.deepEqual(valuesOf(NGINX, 'listen').slice(0, 2), ['443 ssl http2', '[::]:443 ssl http2']);
    assert.deepEqual(valuesOf(NGINX, 'http2'), []);
    assert.deepEqual(valuesOf(NGINX, '# http2'), ['on']);
  });

  test('let the longest body pass', () => {
    const sizes = valuesOf(NGINX, 'client_max_body_size');
    assert.equal(sizes.length, 1);
    assert.ok(Number.parseInt(sizes[0] ?? '', 10) * 1_024 * 1_024 > BOOKS_BYTES_MAX);
  });

  test('refuse in the envelope, with outcomes of the service', () => {
    for (const path of [NGINX, CADDY, HAPROXY]) {
      const envelopes = [...readText(path).matchAll(/\{"status"[^}]*\}/g)].map(([text]) => JSON.parse(text));
      assert.ok(envelopes.length > 0, path);
      for (const { status, message, data } of envelopes) {
        assert.ok(
          Object.values(outcomes).some((known) => known.status === status && known.message === message),
        );
        assert.equal(data, null);
      }
    }
  });

  test('keep /metrics to themselves', () => {
    assert.match(readText(NGINX), /^ *location = \/metrics \{\n.*\n *return 404 /m);
    assert.match(readText(CADDY), /^\s*respond \/metrics .* 404$/m);
  });
});
