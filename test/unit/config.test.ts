import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { FIXED_LIMITS } from '../../src/http/limits.ts';

const SECRETS = { SECRET_TOKEN: 'k'.repeat(32), AUTH_PASSWORD: 'hunter2' };

/** The configuration of the variables and valid secrets. */
function read(variables: Record<string, string> = {}) {
  return readConfig({ ...SECRETS, ...variables });
}

/** The message of the error of invalid variables. */
function errorOf(variables: Record<string, string>): string {
  let message = 'none';
  assert.throws(
    () => readConfig(variables),
    (error) => {
      assert.ok(error instanceof ConfigError);
      message = error.message;
      return true;
    },
  );
  return message;
}

describe('The configuration', () => {
  test('has a default for everything but secrets', () => {
    const { config, secrets, warnings } = read();
    assert.deepEqual(config, {
      port: 8080,
      store: { engine: 'sqlite', path: 'data/books.db' },
      corsOrigins: [],
      trustProxy: false,
      limits: {
        ...FIXED_LIMITS,
        headersMs: 10_000,
        requestMs: 30_000,
        stallMs: 30_000,
        connections: 10_000,
        stopDelayMs: 0,
      },
      logLevel: 'info',
      hasMetrics: true,
      historyDays: 90,
    });
    assert.equal(secrets.username, 'admin');
    assert.deepEqual(warnings, []);
  });

  for (const [DB_URL, HISTORY, isOn] of [
    ['sqlite:books.db', 'off', false],
    ['sqlite:books.db', 'on', true],
    ['postgres://db/books', '', false],
    ['postgres://db/books', 'on', true],
  ] as const) {
    test(`records the history ${isOn ? '' : 'not '}with HISTORY=${HISTORY} of ${DB_URL}`, () => {
      assert.equal(read({ DB_URL, HISTORY }).config.historyDays, isOn ? 90 : undefined);
    });
  }

  test('has the values of the variables', () => {
    const { config, secrets } = read({
      PORT: '9000',
      HOST: '127.0.0.1',
      DB_URL: 'sqlite:other.db',
      CORS_ORIGINS: 'https://a.example',
      TRUST_PROXY: '1',
      HEADERS_TIMEOUT_SECONDS: '1',
      REQUEST_TIMEOUT_SECONDS: '2',
      STALL_TIMEOUT_SECONDS: '3',
      STOP_DELAY_SECONDS: '5',
      CONNECTIONS_MAX: '4',
      LOG_LEVEL: 'DEBUG',
      METRICS: 'off',
      HISTORY_DAYS: '7',
      AUTH_USERNAME: 'librarian',
    });
    assert.deepEqual(config, {
      port: 9000,
      host: '127.0.0.1',
      store: { engine: 'sqlite', path: 'other.db' },
      corsOrigins: ['https://a.example'],
      trustProxy: 1,
      limits: {
        ...FIXED_LIMITS,
        headersMs: 1_000,
        requestMs: 2_000,
        stallMs: 3_000,
        connections: 4,
        stopDelayMs: 5_000,
      },
      logLevel: 'debug',
      hasMetrics: false,
      historyDays: 7,
    });
    assert.equal(secrets.tokenKey.reveal(), SECRETS.SECRET_TOKEN);
    assert.equal(secrets.username, 'librarian');
    assert.equal(secrets.password.reveal(), 'hunter2');
  });

  test('treats an empty value as unset', () => {
    const empty = {
      PORT: '',
      HOST: '',
      DB_URL: '',
      CORS_ORIGINS: '',
      TRUST_PROXY: '',
      AUTH_USERNAME: '',
    };
    assert.deepEqual(read(empty), read());
    assert.equal(
      errorOf({ SECRET_TOKEN: '', AUTH_PASSWORD: '' }),
      'SECRET_TOKEN: must be set; AUTH_PASSWORD: must be set',
    );
  });

  test('does not print its secrets', () => {
    const shown = inspect(read({ DB_URL: 'postgres://app:hunter2@db/books' }), {
      depth: null,
      showHidden: true,
    });
    assert.doesNotMatch(shown, /hunter2|kkk/);
  });

  test('has the previous secret if SECRET_TOKEN_PREVIOUS is set', () => {
    const { secrets } = read({ SECRET_TOKEN_PREVIOUS: 'p'.repeat(32) });
    assert.equal(secrets.previousTokenKey?.reveal(), 'p'.repeat(32));
    assert.ok(!('previousTokenKey' in read({ SECRET_TOKEN_PREVIOUS: '' }).secrets));
    assert.deepEqual(read({ SECRET_TOKEN_PREVIOUS: 'p' }).warnings, [
      'SECRET_TOKEN_PREVIOUS is shorter than 32 bytes',
    ]);
  });

  test('has a warning for a SECRET_TOKEN of fewer than 32 bytes', () => {
    assert.deepEqual(read({ SECRET_TOKEN: 'k'.repeat(31) }).warnings, [
      'SECRET_TOKEN is shorter than 32 bytes',
    ]);
    assert.deepEqual(read({ SECRET_TOKEN: 'ß'.repeat(16) }).warnings, []);
  });
});

describe('An invalid configuration', () => {
  for (const level of ['loud', '30', 'constructor', 'info ']) {
    test(`has the LOG_LEVEL ${JSON.stringify(level)}`, () => {
      assert.equal(
        errorOf({ ...SECRETS, LOG_LEVEL: level }),
        'LOG_LEVEL: must be one of trace, debug, info, warn, error, fatal, silent',
      );
    });
  }

  test('is reported with all errors, each with its variable and without a value', () => {
    const message = errorOf({
      PORT: 'hunter2',
      DB_URL: 'mysql://root:hunter2@db/books',
      CORS_ORIGINS: 'hunter2',
      TRUST_PROXY: 'hunter2',
      WORKERS: 'hunter2',
      METRICS: 'hunter2',
    });
    const names = message.split('; ').flatMap((fault) => /^([A-Z_]+): /.exec(fault)?.slice(1) ?? []);
    assert.deepEqual(names, [
      'PORT',
      'DB_URL',
      'SECRET_TOKEN',
      'AUTH_PASSWORD',
      'CORS_ORIGINS',
      'TRUST_PROXY',
      'METRICS',
      'WORKERS',
    ]);
    assert.doesNotMatch(message, /hunter2|\n/);
  });

  test('has an invalid DB_URL', () => {
    const message = errorOf({ ...SECRETS, DB_URL: 'postgres://app:hunter2@db:port/books' });
    assert.equal(message, 'DB_URL: port must be a whole number from 1 to 65535');
  });
});

describe('PORT', () => {
  test('is a whole number from 0 to 65535', () => {
    for (const [text, port] of [
      ['0', 0],
      ['80', 80],
      ['65535', 65_535],
    ] as const) {
      assert.equal(read({ PORT: text }).config.port, port);
    }
    for (const text of ['65536', '-1', '80.5', '8e3', '0x50', ' 80', '99999999', 'http']) {
      assert.match(errorOf({ ...SECRETS, PORT: text }), /^PORT: must be a whole number from 0 to 65535$/);
    }
  });
});

describe('CORS_ORIGINS', () => {
  test('is a comma-separated list of origins', () => {
    const { corsOrigins } = read({ CORS_ORIGINS: 'https://a.example, http://localhost:5173,,' }).config;
    assert.deepEqual(corsOrigins, ['https://a.example', 'http://localhost:5173']);
  });

  test('accepts only origins as browsers serialize them', () => {
    const others = [
      '*',
      'null',
      'a.example',
      'https://a.example/',
      'https://a.example/x',
      'https://A.example',
      'https://a.example:443',
      'file:///',
    ];
    for (const origin of others) {
      assert.match(
        errorOf({ ...SECRETS, CORS_ORIGINS: `https://b.example,${origin}` }),
        /^CORS_ORIGINS: must be a list of origins such as https:\/\/books\.example/,
        origin,
      );
    }
  });
});

describe('TRUST_PROXY', () => {
  test('is true, false, a number of proxies, or a list of addresses and networks', () => {
    const addresses = '10.0.0.0/8, 192.0.2.1,::1,fd00::/8';
    assert.equal(read({ TRUST_PROXY: 'true' }).config.trustProxy, true);
    assert.equal(read({ TRUST_PROXY: 'false' }).config.trustProxy, false);
    assert.equal(read({ TRUST_PROXY: '2' }).config.trustProxy, 2);
    assert.deepEqual(read({ TRUST_PROXY: addresses }).config.trustProxy, addresses.split(/, ?/));
  });

  test('accepts nothing else', () => {
    const others = [
      'yes',
      '-1',
      '1.5',
      'proxy.example',
      '10.0.0',
      '10.0.0.0/33',
      '::1/129',
      '10.0.0.0/',
      '10.0.0.0/x',
      '10.0.0.0/8/9',
      '0.0.0.0/0',
      '::/0',
    ];
    for (const text of others) {
      assert.match(errorOf({ ...SECRETS, TRUST_PROXY: text }), /^TRUST_PROXY: must be true, false, /, text);
    }
  });
});

describe('WORKERS, which no longer exists,', () => {
  test('may be 1 or empty', () => {
    for (const text of ['', '1']) assert.deepEqual(read({ WORKERS: text }), read());
  });

  test('is an error with any other value', () => {
    for (const text of ['2', '0', 'auto']) {
      assert.equal(
        errorOf({ ...SECRETS, WORKERS: text }),
        'WORKERS: no longer exists, as a service is one process; run copies, see docs/scaling.md',
      );
    }
  });
});

describe('STOP_DELAY_SECONDS', () => {
  test('is a whole number of seconds from 0', () => {
    for (const [text, ms] of [
      ['0', 0],
      ['3600', 3_600_000],
    ] as const) {
      assert.equal(read({ STOP_DELAY_SECONDS: text }).config.limits.stopDelayMs, ms);
    }
    for (const text of ['3601', '-1', '0.5', 'long', ' 1']) {
      const message = errorOf({ ...SECRETS, STOP_DELAY_SECONDS: text });
      assert.equal(message, 'STOP_DELAY_SECONDS: must be a whole number from 0 to 3600');
    }
  });
});

describe('The client limits', () => {
  test('are whole numbers of seconds and connections', () => {
    for (const [name, max] of [
      ['HEADERS_TIMEOUT_SECONDS', 3_600],
      ['REQUEST_TIMEOUT_SECONDS', 3_600],
      ['STALL_TIMEOUT_SECONDS', 3_600],
      ['CONNECTIONS_MAX', 1_000_000],
    ] as const) {
      assert.deepEqual(read({ [name]: `${max}` }).warnings, []);
      for (const text of ['0', `${max + 1}`, '-1', '1.5', '1e3', 'ten', ' 1']) {
        const message = errorOf({ ...SECRETS, [name]: text });
        assert.equal(message, `${name}: must be a whole number from 1 to ${max}`);
      }
    }
  });

  test('limit the time for headers to the time for the request', () => {
    const { limits } = read({ REQUEST_TIMEOUT_SECONDS: '5' }).config;
    assert.equal(limits.headersMs, 5_000);
  });
});
