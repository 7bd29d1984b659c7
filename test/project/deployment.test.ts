import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HEALTH_PATH, READINESS_PATH } from '../../src/api/health-handlers.ts';
import { changesParameters } from '../../src/history/operations.ts';
import { BOOKS_BYTES_MAX } from '../../src/http/body-limits.ts';
import { FIXED_LIMITS } from '../../src/http/limits.ts';
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

const rows = rowsUnder(readText('docs/configuration.md'), 'variable', 'default');
const variables = rows.map(([name = '']) => codeIn(name) ?? '');
const port = rows.find(([name]) => name === '`PORT`')?.[1] ?? '';

/** Variables of Node and SQLite. */
const NOT_OURS = ['NODE_COMPILE_CACHE', 'SQLITE_TMPDIR'];

/** The maximum time of a stop. */
const STOP_MS = FIXED_LIMITS.drainMs + FIXED_LIMITS.graceMs;

describe('The Dockerfile', () => {
  const copied = dockerfile
    .filter(({ name, value }) => name === 'COPY' && !value.startsWith('--from='))
    .flatMap(({ value }) => value.split(/ +/).slice(0, -1));

  test('copies exactly the files that .dockerignore includes', () => {
    const included = [...readText('.dockerignore').matchAll(/^!(.*)$/gm)].map(([, path = '']) => path);
    assert.deepEqual(
      copied.filter((path) => !exists(path)),
      [],
    );
    const needed = new Set(copied.map((path) => path.replace(/\/.*/, '')));
    assert.deepEqual([...needed].toSorted(), included.toSorted());
    assert.match(readText('.dockerignore'), /^\*$/m);
  });

  test('starts the service like npm start', () => {
    const command = (JSON.parse(lastValue('ENTRYPOINT')) as string[]).join(' ');
    assert.equal(`exec ${command}`, readPackage().scripts.start);
  });

  test('has a version of Node that README.md recommends for production', () => {
    const [, least = ''] = /In production use Node ([0-9.]+) or newer/.exec(readText('README.md')) ?? [];
    const [argument] = dockerfile.filter(({ name, value }) => name === 'ARG' && value.startsWith('NODE='));
    const [, version = ''] = /^NODE=([0-9]+\.[0-9]+\.[0-9]+)-/.exec(argument?.value ?? '') ?? [];
    assert.ok(least && least.localeCompare(version, 'en', { numeric: true }) <= 0, version);
  });

  test('does not run as root, and checks /healthz', () => {
    assert.match(lastValue('USER'), /^[1-9][0-9]*:[1-9][0-9]*$/);
    assert.ok(lastValue('HEALTHCHECK').includes(`'${HEALTH_PATH}'`));
  });
});

describe('The files of deploy/', () => {
  test('are valid YAML', () => {
    const paths = listFiles('deploy/**/*.yaml');
    assert.ok(paths.length > 0);
    for (const path of paths) readYaml(path);
  });

  test('set only variables of docs/configuration.md, and all required ones', () => {
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

  test('use the default port of the service', () => {
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

  test('use /healthz for restarts and /readyz for routing', () => {
    const paths = probes.map((probe) => probe.at('httpGet', 'path').value);
    assert.deepEqual(paths, [HEALTH_PATH, HEALTH_PATH, READINESS_PATH]);
    assert.deepEqual(valuesOf(CADDY, 'health_uri'), [READINESS_PATH]);
    assert.deepEqual(valuesOf(HAPROXY, 'http-check send meth GET uri'), [
      `${READINESS_PATH} ver HTTP/1.1 hdr Host books`,
    ]);
  });

  test('allow the time of a stop', () => {
    const delay = container
      .at('env')
      .list()
      .find((variable) => variable.at('name').value === 'STOP_DELAY_SECONDS');
    const terminationMs = Number(pod.at('terminationGracePeriodSeconds').value) * 1_000;
    assert.ok(terminationMs > Number(delay?.at('value').text) * 1_000 + STOP_MS);
    assert.ok(milliseconds(compose.at('stop_grace_period').text) > STOP_MS);
    assert.ok(milliseconds(valuesOf(UNIT, 'TimeoutStopSec')[0] ?? '') > STOP_MS);
  });

  test('start the service under systemd like npm start', () => {
    const [, flags] = /^exec node (.*) bin\/bookkeeping\.mjs$/.exec(readPackage().scripts.start ?? '') ?? [];
    assert.deepEqual(valuesOf(UNIT, 'ExecStart'), [
      `/usr/bin/node ${flags} /opt/bookkeeping/bin/bookkeeping.mjs`,
    ]);
  });
});

describe('The Kubernetes manifests', () => {
  const kustomization = readYaml('deploy/kubernetes/kustomization.yaml');

  test('are all applied, except the example', () => {
    const applied = kustomization
      .at('resources')
      .list()
      .map(({ text }) => `deploy/kubernetes/${text}`);
    const others = ['deploy/kubernetes/kustomization.yaml', 'deploy/kubernetes/secret.example.yaml'];
    assert.deepEqual([...applied, ...others].toSorted(), listFiles('deploy/kubernetes/*'));
  });

  test('select the pods, and name the Secret', () => {
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
  test('close idle connections before the service does', () => {
    for (const time of [...valuesOf(NGINX, 'keepalive_timeout'), ...valuesOf(CADDY, 'keepalive')]) {
      assert.ok(milliseconds(time) < FIXED_LIMITS.idleMs, time);
    }
  });

  test('wait longer than GET /changes does', () => {
    const times = [
      ...valuesOf(NGINX, 'proxy_read_timeout'),
      ...valuesOf(CADDY, 'response_header_timeout'),
      ...valuesOf(HAPROXY, 'timeout server'),
    ];
    assert.equal(times.length, 3);
    for (const time of times) assert.ok(milliseconds(time) > changesParameters.wait.maximum * 1_000, time);
  });

  test('nginx: has no limit of requests or time for a connection, because closing loses HTTP/2 requests', () => {
    assert.deepEqual(valuesOf(NGINX, 'keepalive_requests'), ['1000000000']);
    assert.deepEqual(valuesOf(NGINX, 'keepalive_time'), ['365d']);
  });

  test('nginx: the file for older versions differs only in how HTTP/2 is enabled', () => {
    const older = readText('deploy/nginx/bookkeeping-1.24.conf')
      .replace('For nginx 1.19.10 to 1.25.0,', 'For nginx 1.25.1 or newer,')
      .replaceAll(/^( *listen .*:?443 ssl) http2;$/gm, '$1;')
      .replace(/^( *)listen \[::\]:443 ssl;$/m, '$&\n$1http2 on;');
    assert.equal(older, readText(NGINX));
  });

  test('nginx: accepts the longest body', () => {
    const [size, ...others] = valuesOf(NGINX, 'client_max_body_size');
    const [allowed, longest] = [Number.parseInt(size ?? '', 10), BOOKS_BYTES_MAX / (1_024 * 1_024)];
    assert.ok(allowed > longest);
    assert.deepEqual(others, ['0'], 'the location of the errors has no limit');
    const documented = `nginx allows ${allowed} MiB, so that the service itself responds with 413 to more than ${longest}.`;
    assert.ok(readText('docs/deploying.md').includes(documented), documented);
  });

  test('tell browsers to use HTTPS, in every response', () => {
    const header = 'Strict-Transport-Security';
    assert.equal(
      readText(NGINX).match(new RegExp(`add_header ${header} "max-age=63072000" always;`, 'g'))?.length,
      2,
    );
    assert.equal(readText(CADDY).match(new RegExp(`header ${header} "max-age=63072000"`, 'g'))?.length, 2);
    assert.match(
      readText(HAPROXY),
      new RegExp(`http-after-response set-header ${header} "max-age=63072000" if`),
    );
  });

  test('respond with errors in the envelope, with outcomes of the service', () => {
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

  test('respond 404 to /metrics, also with escapes: nginx and Caddy decode the path that they compare', () => {
    assert.match(readText(NGINX), /^ *location = \/metrics \{\n.*\n *return 404 /m);
    assert.match(readText(CADDY), /^\s*respond \/metrics .* 404$/m);
    const hidden = /^ *http-request return status 404 .* if \{ path,url_dec -m str \/metrics \/readyz \}$/m;
    assert.match(readText(HAPROXY), hidden);
  });
});
