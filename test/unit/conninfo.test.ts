import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Conninfo, parseConninfo } from '../../src/store/postgres/connection/conninfo.ts';

/** The parameters without default values, and with the password in plain text. */
function parse(text: string): Record<string, unknown> {
  const { password, applicationName, sslmode, connectTimeoutMs, ...others } = parseConninfo(text);
  return {
    ...(connectTimeoutMs !== 1_500 && { connectTimeoutMs }),
    ...others,
    ...(password && { password: password.reveal() }),
    ...(applicationName !== 'bookkeeping' && { applicationName }),
    ...(sslmode !== 'prefer' && { sslmode }),
  };
}

describe('A connection string in the form of a URL', () => {
  test('contains user, password, host, port and database', () => {
    const expected = { user: 'app', password: 'secret', host: 'db.example', port: 6432, dbname: 'books' };
    assert.deepEqual(parse('postgres://app:secret@db.example:6432/books'), expected);
    assert.deepEqual(parse('postgresql://app:secret@db.example:6432/books'), expected);
    assert.deepEqual(parse('POSTGRES://app:secret@db.example:6432/books'), expected);
  });

  test('may omit every part', () => {
    assert.deepEqual(parse('postgres://'), {});
    assert.deepEqual(parse('postgres:///books'), { dbname: 'books' });
    assert.deepEqual(parse('postgres://db'), { host: 'db' });
    assert.deepEqual(parse('postgres://db:5433'), { host: 'db', port: 5433 });
    assert.deepEqual(parse('postgres://app@'), { user: 'app' });
    assert.deepEqual(parse('postgres://app:@db/'), { user: 'app', host: 'db' });
    assert.deepEqual(parse('postgres://?host=db&dbname=books'), { host: 'db', dbname: 'books' });
  });

  test('has its parts percent-encoded', () => {
    assert.deepEqual(parse('postgres://a%40pp:p%3Aa%2Fs%25%20%C3%9F@db/my%20books'), {
      user: 'a@pp',
      password: 'p:a/s% ß',
      host: 'db',
      dbname: 'my books',
    });
  });

  test('may have colons in its password', () => {
    assert.deepEqual(parse('postgres://app:a:b:c@db:5432/books'), {
      user: 'app',
      password: 'a:b:c',
      host: 'db',
      port: 5432,
      dbname: 'books',
    });
  });

  test('may have at signs in its password, as the drivers of Go read it', () => {
    assert.deepEqual(parse('postgres://app:p@ss@db/books'), {
      user: 'app',
      password: 'p@ss',
      host: 'db',
      dbname: 'books',
    });
  });

  test('may have at signs after its hosts', () => {
    assert.deepEqual(parse('postgres://db/books?user=app@tenant'), {
      user: 'app@tenant',
      host: 'db',
      dbname: 'books',
    });
    assert.deepEqual(parse('postgres://app@db/a@b'), { user: 'app', host: 'db', dbname: 'a@b' });
  });

  test('has IPv6 addresses in brackets', () => {
    assert.deepEqual(parse('postgres://app@[::1]:5433/books'), {
      user: 'app',
      host: '::1',
      port: 5433,
      dbname: 'books',
    });
    assert.deepEqual(parse('postgres://[2001:db8::7]/books'), { host: '2001:db8::7', dbname: 'books' });
  });

  test('has the directory of a Unix socket as its encoded host, or as a parameter', () => {
    assert.deepEqual(parse('postgres://%2Frun%2Fpostgresql/books'), {
      host: '/run/postgresql',
      dbname: 'books',
    });
    assert.deepEqual(parse('postgres:///books?host=/run/postgresql'), {
      host: '/run/postgresql',
      dbname: 'books',
    });
  });

  test('has parameters, which override the other parts', () => {
    const text =
      'postgres://app@db/books?sslmode=verify-full&sslrootcert=/etc/ca%20file.pem&connect_timeout=7&application_name=desk&options=-c%20work_mem%3D8MB&port=5433&user=other';
    assert.deepEqual(parse(text), {
      user: 'other',
      host: 'db',
      port: 5433,
      dbname: 'books',
      sslmode: 'verify-full',
      sslrootcert: '/etc/ca file.pem',
      connectTimeoutMs: 7_000,
      applicationName: 'desk',
      options: '-c work_mem=8MB',
    });
  });
});

describe('A connection string in the form of keywords', () => {
  test('may have keywords of other drivers, which are ignored', () => {
    const text =
      'host=localhost user=gorm password=gorm dbname=gorm port=9920 sslmode=disable TimeZone=Asia/Shanghai';
    assert.deepEqual(parse(text), {
      host: 'localhost',
      user: 'gorm',
      password: 'gorm',
      dbname: 'gorm',
      port: 9920,
      sslmode: 'disable',
    });
  });

  test('may have white space around its keywords and values', () => {
    assert.deepEqual(parse('  host =  db\n\tuser= app  '), { host: 'db', user: 'app' });
  });

  test('has values with white space in single quotes', () => {
    assert.deepEqual(parse("password='a b = c' user=app"), { password: 'a b = c', user: 'app' });
    assert.deepEqual(parse("user='' host='db'"), { host: 'db' });
  });

  test('has quotes and backslashes after a backslash, in quoted and unquoted values', () => {
    assert.deepEqual(parse(String.raw`password='it\'s a \\ \a' user=app`), {
      password: String.raw`it's a \ a`,
      user: 'app',
    });
    assert.deepEqual(parse(String.raw`password=it\'s\ a\\ user=app`), { password: "it's a\\", user: 'app' });
    assert.deepEqual(parse(String.raw`password='\📚'`), { password: '📚' });
  });

  test('has percent signs, at signs and colons without escapes', () => {
    assert.deepEqual(parse('password=100%40:@/? host=::1'), { password: '100%40:@/?', host: '::1' });
  });

  test('has the last value of a repeated keyword, and ignores an empty one', () => {
    assert.deepEqual(parse('host=a HOST=b user='), { host: 'b' });
  });

  test('has an address for the name of its host', () => {
    assert.deepEqual(parse('host=db.example hostaddr=192.0.2.7'), {
      host: 'db.example',
      hostaddr: '192.0.2.7',
    });
  });
});

describe('The sslmode of a connection string', () => {
  test('is a mode of libpq, and prefer by default', () => {
    for (const sslmode of ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const) {
      assert.equal(parseConninfo(`sslmode=${sslmode}`).sslmode satisfies Conninfo['sslmode'], sslmode);
    }
    assert.equal(parseConninfo('host=db').sslmode, 'prefer');
    assert.throws(
      () => parseConninfo('sslmode=sometimes'),
      /^Error: sslmode must be one of disable, allow, /,
    );
  });
});

describe('An invalid connection string', () => {
  const FAULTS: Record<string, [text: string, complaint: RegExp]> = {
    'a port that is not a number': [
      'postgres://app:hunter2@db:54x/books',
      /^port must be a whole number from 1 to 65535$/,
    ],
    'a slash in the password': [
      'postgres://app:hun/ter2@db:5432/books',
      /^a \/ in its user or password must be written as %2F/,
    ],
    'a slash in the password, after digits': ['postgres://app:123/hunter2@db/books', /^a \/ in its user or/],
    'a slash in the user': ['postgres://ap/p:hunter2@db/books', /^a \/ in its user or password/],
    'a question mark in the password': ['postgres://app:hun?ter2@db/books', /and a \? as %3F$/],
    'a question mark in the password, after digits': [
      'postgres://app:1?hunter2@db/books?sslmode=require',
      /a \? as %3F$/,
    ],
    'a port that is 0': ['password=hunter2 port=0', /^port must be/],
    'a port beyond 65535': ['password=hunter2 port=65536', /^port must be/],
    'a timeout that is not a number': [
      'password=hunter2 connect_timeout=soon',
      /^connect_timeout must be a whole number/,
    ],
    ...Object.fromEntries(
      [
        'postgres://app:hunter2@a,b/books',
        'postgres://app:hunter2@a:5432,b:5433/books',
        'postgres://app:hunter2@[::1]:5432,%2Frun/books',
        'postgres://app:hunter2@a%2Cb/books',
        'postgres:///books?password=hunter2&host=a,b',
        'password=hunter2 host=a,b port=5432,5433',
        'password=hunter2 hostaddr=192.0.2.1,192.0.2.2',
        'password=hunter2 host=a,',
      ].map((text, index) => [
        `a list of hosts, form ${index + 1}`,
        [text, /^it must name one host: the address of .* HAProxy with Patroni, PgBouncer, a virtual IP/],
      ]),
    ),
    'a list of ports': ['password=hunter2 port=1,2', /^port must be a whole number/],
    'a percent sign alone': [
      'postgres://app:hunter2%@db/books',
      /% in it is not followed by two hexadecimal digits$/,
    ],
    'an escape that is not UTF-8': ['postgres://app:hunter2%ff@db/books', /^a % in it/],
    'a bracket that does not close': ['postgres://app:hunter2@[::1/books', /./],
    'a quote that does not close': ["host=db password='hunter2", /^it is not a list of keyword=value pairs$/],
    'text after a quoted value': ["password='hunter2'x", /^it is not a list/],
    'a word without a value': ['password=hunter2 hunter2', /^it is not a list/],
    'a backslash at the end': ['password=hunter2\\', /^it is not a list/],
    'an unknown sslmode': ['password=hunter2 sslmode=hunter2', /^sslmode must be one of/],
  };
  for (const [fault, [text, complaint]] of Object.entries(FAULTS)) {
    test(`is rejected without quoting its values: ${fault}`, () => {
      assert.throws(
        () => parseConninfo(text),
        (error) => {
          assert.ok(error instanceof Error);
          assert.match(error.message, complaint);
          assert.doesNotMatch(error.message, /hunter2|\n/);
          return true;
        },
      );
    });
  }

  test('is rejected at any length', () => {
    for (const text of [
      `host=${'\\'.repeat(99_999)}`,
      `a=${' '.repeat(99_999)}'`,
      `postgres://${'a:'.repeat(99_999)}`,
    ]) {
      assert.throws(() => parseConninfo(text), Error);
    }
  });
});
