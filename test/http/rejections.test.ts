import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { Client } from 'pg';
import { type Engine, engines } from '../../testkit/engines.ts';
import { createDatabase, createUser } from '../../testkit/postgres.ts';
import { type Service, startService, TITLE } from '../../testkit/service.ts';

/** Books that the tables have; others depend on the first one. */
const BOOKS = `
  insert into books (title, author, year) values ('${TITLE}', 'Mervyn Peake', 1946), ('Emma', 'Jane Austen', 1815);
  create table loans (id integer primary key, book_id bigint not null constraint loaned references books (id));
  insert into loans values (1, 1);`;

/** A table with constraints of all kinds, as a person would write it. */
const TABLES = {
  SQLite: `
    create table books (
      id integer primary key autoincrement, title text, author text, year integer,
      unique (title, author),
      constraint year_fits check (year < 3000),
      check (year <> 13)
    );
    ${BOOKS}
    create trigger no_nonsense before insert on books when new.author = 'Nobody' begin select raise(abort, 'Nobody!'); end;
    create trigger no_renaming before update on books when new.author = 'Nobody' begin select raise(rollback, 'Nobody!'); end;
    create trigger no_loss before delete on books when old.title = 'Emma' begin select raise(fail, 'Emma!'); end;`,
  PostgreSQL: `
    create domain writer as text constraint wrote check (value <> 'A machine');
    create table books (
      id bigserial primary key, title varchar(50), author writer, year smallint,
      constraint once unique (title, author),
      constraint year_fits check (year < 3000),
      constraint "no \u201313\u201d" check (year <> 13)
    );
    ${BOOKS}
    create function judge() returns trigger language plpgsql as $$ begin
      if tg_op = 'DELETE' then
        if old.title = 'Emma' then raise exception 'Emma!'; end if;
        return old;
      end if;
      if new.author = 'Nobody' then raise 'Nobody!' using errcode = 'BK001'; end if;
      return new;
    end $$;
    create trigger judge before insert or update or delete on books for each row execute function judge();`,
};

const UNIQUE = { SQLite: 'UNIQUE (books.title, books.author)', PostgreSQL: 'constraint once' };
const YEAR = { SQLite: 'CHECK year_fits', PostgreSQL: 'constraint year_fits' };
/** SQLite names a CHECK without a name by its SQL, which is not sent. */
const THIRTEEN = { SQLite: 'CHECK', PostgreSQL: 'constraint no \\u201313\\u201d' };
const LOANED = { SQLite: 'FOREIGN KEY of loans', PostgreSQL: 'constraint loaned of loans' };
const TRIGGER = {
  SQLite: 'trigger no_loss or no_nonsense or no_renaming',
  PostgreSQL: 'trigger function judge',
};

/** New books with more text than one array has. */
const MANY = Array.from({ length: 300 }, (_, index) => ({ title: `${index}`, author: 'x'.repeat(1_000) }));
const DUPLICATE = { title: TITLE, author: 'Mervyn Peake', year: 1946 };

for (const engine of engines) {
  const { name } = engine;
  describe(`What a table on ${name} rejects`, () => {
    test('is 400 with the name of the constraint, in the log, too, and nothing is stored', async () => {
      await using scene = await stage(engine, TABLES[name]);
      const { service } = scene;
      const cases: [string, string, unknown, string, (number | undefined)?][] = [
        ['POST', '/book', DUPLICATE, UNIQUE[name]],
        ['POST', '/book', { title: 'Dune', year: 3000 }, YEAR[name]],
        ['POST', '/book', { title: 'Dune', year: 13 }, THIRTEEN[name]],
        ['POST', '/book', { title: 'Dune', author: 'Nobody' }, TRIGGER[name]],
        ['PUT', '/book/2', DUPLICATE, UNIQUE[name]],
        ['PUT', '/book/2', { year: 3001 }, YEAR[name]],
        ['PUT', '/book/2', { author: 'Nobody' }, TRIGGER[name]],
        ['DELETE', '/book/1', undefined, LOANED[name]],
        ['DELETE', '/book/2', undefined, TRIGGER[name]],
        ['POST', '/books', [{ title: 'Dune' }, DUPLICATE], UNIQUE[name], 1],
        ['POST', '/books', [{ title: 'Dune' }, { title: 'Dune' }, { title: 'Dune' }], UNIQUE[name], 1],
        // The store gets them in more than one array.
        ['POST', '/books', [...MANY, DUPLICATE], UNIQUE[name], MANY.length],
        [
          'PATCH',
          '/books',
          [
            { id: 1, year: 1 },
            { id: 2, year: 3000 },
          ],
          YEAR[name],
          1,
        ],
        [
          'PATCH',
          '/books',
          [
            { id: 2, year: 1 },
            { id: 1, deleted: true },
          ],
          LOANED[name],
          name === 'SQLite' ? 1 : undefined,
        ],
      ];
      if (name === 'PostgreSQL')
        cases.push(
          ['POST', '/book', { title: 'x'.repeat(51) }, 'the length of a column character varying(50)'],
          ['PUT', '/book/2', { year: 32_768 }, 'the range of a column'],
          ['POST', '/book', { title: 'Dune', author: 'A machine' }, 'constraint wrote of the type writer'],
        );
      const before = await list(service);
      for (const [method, path, body, constraint, index] of cases) {
        for (const headers of ['POST'].includes(method)
          ? [{}, { 'Idempotency-Key': `"${path}"` }]
          : [{}, { 'If-Match': '*' }]) {
          const response = await service.fetch(
            method,
            path,
            body === undefined ? undefined : JSON.stringify(body),
            headers,
          );
          const what = `${method} ${path} ${JSON.stringify(body)}`;
          assert.deepEqual(
            await response.json(),
            { status: 400, message: 'Invalid input', data: null },
            what,
          );
          assert.equal(
            response.headers.get('error-detail'),
            `the table books does not accept this book: ${constraint}`,
            what,
          );
          // PostgreSQL does not say which of many books it is.
          assert.equal(
            response.headers.get('invalid-index'),
            name === 'SQLite' && index !== undefined ? `${index}` : null,
            what,
          );
          assert.equal(response.headers.get('retry-after'), null);
          const line = JSON.parse(service.log.at(-1) ?? '') as Record<string, unknown>;
          assert.partialDeepStrictEqual(line, { status: 400, constraint, level: 40 }, what);
        }
      }
      assert.deepEqual(await list(service), before);
      const created = await service.fetch('POST', '/book', '{"title":"Dune"}', {
        'Idempotency-Key': '"/book"',
      });
      assert.equal(created.status, 201);
      assert.equal((await service.fetch('PUT', '/book/9', '{"year":3000}')).status, 404);
    });

    test('does not harm the other calls of its batch', async () => {
      await using scene = await stage(engine, TABLES[name]);
      const { service } = scene;
      const statuses = await Promise.all(
        Array.from({ length: 60 }, async (_, index) => {
          const fields =
            index % 20 === 7 ? DUPLICATE : { title: `Book ${index}`, year: index === 13 ? 13 : index };
          const key = index % 2 === 0 ? { 'Idempotency-Key': `"${index}"` } : {};
          return (await service.fetch('POST', '/book', JSON.stringify(fields), key)).status;
        }),
      );
      assert.deepEqual(
        statuses,
        statuses.map((_, index) => (isRejected(index) ? 400 : 201)),
      );
      const titles = (await list(service)).map(({ title }) => title).toSorted();
      const stored = statuses
        .keys()
        .filter((index) => !isRejected(index))
        .map((index) => `Book ${index}`);
      assert.deepEqual(titles, [TITLE, 'Emma', ...stored].toSorted());
    });

    test('can be a restore', async () => {
      await using scene = await stage(engine, TABLES[name]);
      const { service } = scene;
      for (const title of ['Dune', 'Persuasion'])
        await service.fetch('POST', '/book', JSON.stringify({ title, author: 'A', year: 1 }));
      for (const id of [3, 4]) assert.equal((await service.fetch('DELETE', `/book/${id}`)).status, 200);
      await service.fetch('POST', '/book', JSON.stringify({ title: 'Persuasion', author: 'A', year: 1 }));
      for (const [path, body, index] of [
        ['/book/4/restore', undefined, null],
        ['/books/restore', '[3,4]', '1'],
      ] as const) {
        const response = await service.fetch('POST', path, body);
        assert.equal(response.status, 400);
        assert.match(
          response.headers.get('error-detail') ?? '',
          new RegExp(`: ${UNIQUE[name].replace(/[()]/g, '\\$&')}$`),
        );
        if (name === 'SQLite') assert.equal(response.headers.get('invalid-index'), index);
      }
      assert.equal((await service.fetch('POST', '/book/3/restore')).status, 200);
    });

    test('can be noticed only at the commit', async () => {
      const { [name]: table } = {
        SQLite:
          'create table books (id integer primary key autoincrement, title text, author text, year integer,',
        PostgreSQL: 'create table books (id bigserial primary key, title text, author text, year bigint,',
      };
      await using scene = await stage(
        engine,
        `create table years (year bigint primary key); insert into years values (0), (1965);
         ${table} constraint known foreign key (year) references years (year) deferrable initially deferred);`,
      );
      const { service } = scene;
      const statuses = await Promise.all(
        [1965, 0, 1966, 1965].map(
          async (year) => (await service.fetch('POST', '/book', JSON.stringify({ year }))).status,
        ),
      );
      assert.deepEqual(statuses, [201, 201, 400, 201]);
      const response = await service.fetch('PUT', '/book/1', '{"year":1}');
      const constraint = { SQLite: 'FOREIGN KEY of books', PostgreSQL: 'constraint known' }[name];
      assert.equal(
        response.headers.get('error-detail'),
        `the table books does not accept this book: ${constraint}`,
      );
      assert.equal((await list(service)).length, 3);
    });
  });
}

describe('A trigger that leaves out changes without an error', () => {
  const table = 'title text, author text, year bigint);';
  const LEAVING_OUT = {
    SQLite: `create table books (id integer primary key autoincrement, ${table} insert into books (title) values ('Gone');
      create trigger no_insert before insert on books when new.title in ('Nothing', 'Gone') begin select raise(ignore); end;
      create trigger no_update before update on books when new.title = 'Nothing' begin select raise(ignore); end;
      create trigger no_delete before delete on books when old.title <> 'Gone' begin select raise(ignore); end;`,
    PostgreSQL: `create table books (id bigserial primary key, ${table} insert into books (title) values ('Gone');
      create function leave_out() returns trigger language plpgsql as $$ begin
        if tg_op = 'DELETE' then return case when old.title = 'Gone' then old end; end if;
        return case when new.title not in ('Nothing', 'Gone') then new end;
      end $$;
      create trigger leave_out before insert or update or delete on books for each row execute function leave_out();`,
  };
  for (const engine of engines)
    test(`makes them 400 on ${engine.name}, and harms no others`, async () => {
      await using scene = await stage(
        engine,
        `${LEAVING_OUT[engine.name]} insert into books (title) values ('Emma'), ('Dune');`,
      );
      const { service } = scene;
      assert.equal((await service.fetch('DELETE', '/book/1')).status, 200);
      const before = await list(service);
      const nothing = '{"title":"Nothing"}';
      for (const [method, path, body, headers] of [
        ['POST', '/book', nothing],
        ['POST', '/book', nothing, { 'Idempotency-Key': '"1"' }],
        ['POST', '/books', `[{},${nothing}]`],
        ['POST', '/books', `[{},${nothing}]`, { 'Idempotency-Key': '"2"' }],
        ['PUT', '/book/2', nothing],
        ['PUT', '/book/2', nothing, { 'If-Match': '*' }],
        ['DELETE', '/book/2'],
        ['DELETE', '/book/2', undefined, { 'If-Match': '*' }],
        ['PATCH', '/books', '[{"id":3,"year":1},{"id":2,"title":"Nothing"}]'],
        ['PATCH', '/books', '[{"id":3,"year":1},{"id":2,"deleted":true}]'],
        ['POST', '/book/1/restore'],
        ['POST', '/books/restore', '[1]'],
      ] as const) {
        const response = await service.fetch(method, path, body, headers);
        assert.equal(response.status, 400, `${method} ${path} ${body}`);
        assert.match(
          response.headers.get('error-detail') ?? '',
          /: a trigger or a constraint that leaves out books$/,
        );
      }
      assert.deepEqual(await list(service), before);
      assert.equal((await service.fetch('DELETE', '/book/9')).status, 404);
      assert.equal((await service.fetch('PUT', '/book/9', nothing)).status, 404);
      const statuses = await Promise.all(
        ['Ulysses', 'Nothing', 'Persuasion', 'Nothing'].map(
          async (title) => (await service.fetch('POST', '/book', JSON.stringify({ title }))).status,
        ),
      );
      assert.deepEqual(statuses, [201, 400, 201, 400]);
    });
});

describe('What a table cannot compute or store is 400, and harms no other book:', () => {
  const columns = 'title text, author text, year bigint';
  const sqlite = `create table books (id integer primary key autoincrement, ${columns}`;
  const postgres = `create table books (id bigserial primary key, ${columns}`;
  const trigger = (
    body: string,
  ) => `${postgres}); create function judge() returns trigger language plpgsql as $$ begin
    if new.year = 13 then ${body}; end if; return new; end $$;
    create trigger judge before insert or update on books for each row execute function judge();`;
  const longText = `create function long_text(text) returns text immutable language sql
    as $$ select string_agg(md5(i::text || $1), '') from generate_series(1, 200) as i $$;`;
  const failing =
    'an expression of a constraint, a trigger, an index or a column, which SQLite cannot compute';
  const cases: [Engine['name'], string, string, string][] = [
    ['SQLite', 'a CHECK', `${sqlite}, check (case when year = 13 then json('{') else 1 end));`, failing],
    ['SQLite', 'a column', `${sqlite}, x as (case when year = 13 then json('{') end) stored);`, failing],
    [
      'SQLite',
      'an index',
      `${sqlite}); create index x on books (abs(case year when 13 then -9223372036854775808 end));`,
      failing,
    ],
    [
      'SQLite',
      'a trigger',
      `${sqlite}); create trigger a before insert on books when new.year = 13 begin select json('{'); end;
       create trigger b before update on books when new.year = 13 begin select json('{'); end;`,
      failing,
    ],
    [
      'SQLite',
      'a trigger of another table with an id that is a text',
      `${sqlite}); create table log (id integer primary key);
       create trigger a after insert on books when new.year = 13 begin insert into log values ('x'); end;
       create trigger b after update on books when new.year = 13 begin insert into log values ('x'); end;`,
      failing,
    ],
    ...['42501', '25006', '55000', '57P01', '08006'].map((code): (typeof cases)[number] => [
      'PostgreSQL',
      `a trigger that raises ${code}`,
      trigger(`raise 'no' using errcode = '${code}'`),
      'trigger function judge',
    ]),
    [
      'PostgreSQL',
      'a trigger for another table',
      trigger('new.updated_at := now()'),
      'trigger function judge (SQLSTATE 42703)',
    ],
    [
      'PostgreSQL',
      'a trigger whose table is missing',
      trigger('insert into audit values (1)'),
      'trigger function judge (SQLSTATE 42P01)',
    ],
    [
      'PostgreSQL',
      'a trigger that divides by zero',
      trigger('perform 1 / (new.year - 13)'),
      'trigger function judge (SQLSTATE 22012)',
    ],
    [
      'PostgreSQL',
      'an index of too long texts',
      `${longText} ${postgres}); create index x on books ((case when year = 13 then long_text(title) end));`,
      'constraint x',
    ],
  ];
  for (const [name, what, sql, constraint] of cases)
    test(`${what} on ${name}`, async () => {
      const engine = engines.find((candidate) => candidate.name === name) as Engine;
      await using scene = await stage(engine, sql);
      const { service } = scene;
      const unlucky = '{"year":13}';
      const statuses = await Promise.all(
        ['{"year":12}', unlucky, '{}'].map(
          async (body) => (await service.fetch('POST', '/book', body)).status,
        ),
      );
      assert.deepEqual(statuses, [201, 400, 201]);
      const before = await list(service);
      const { id } = before[0] ?? {};
      for (const [method, path, body, headers] of [
        ['POST', '/book', unlucky],
        ['POST', '/book', unlucky, { 'Idempotency-Key': '"1"' }],
        ['POST', '/books', `[{},${unlucky}]`],
        ['PUT', `/book/${id}`, unlucky],
        ['PUT', `/book/${id}`, unlucky, { 'If-Match': '*' }],
        ['PATCH', '/books', `[{"id":${id},"year":13}]`],
      ] as const) {
        const response = await service.fetch(method, path, body, headers);
        const detail = response.headers.get('error-detail');
        assert.equal(detail, `the table books does not accept this book: ${constraint}`, `${method} ${path}`);
        assert.equal(response.status, 400);
      }
      assert.deepEqual(await list(service), before);
    });

  test('an id, when there is none left', async () => {
    const [, engine] = engines;
    await using scene = await stage(
      engine as Engine,
      `${postgres}); alter sequence books_id_seq maxvalue 2;`,
    );
    const created = await scene.service.fetch('POST', '/books', '[{},{}]');
    assert.equal(created.status, 201);
    const response = await scene.service.fetch('POST', '/book', '{}');
    assert.equal(response.status, 400);
    assert.equal(response.headers.get('retry-after'), null);
    assert.match(
      response.headers.get('error-detail') ?? '',
      /: the sequence of the ids, which has reached its end$/,
    );
  });
});

test('A trigger that leaves out updates without a change leaves PUT as it is', async () => {
  const tables = {
    SQLite: `create table books (id integer primary key autoincrement, title text, author text, year integer);
      create trigger lazy before update on books when (new.title, new.author, new.year) = (old.title, old.author, old.year)
      begin select raise(ignore); end;`,
    PostgreSQL: `create table books (id bigserial primary key, title text, author text, year bigint);
      create trigger lazy before update on books for each row execute function suppress_redundant_updates_trigger();`,
  };
  for (const engine of engines) {
    await using scene = await stage(engine, tables[engine.name]);
    const { service } = scene;
    await service.fetch('POST', '/book', '{"title":"Dune"}');
    for (const [body, year] of [
      ['{}', 0],
      ['{"title":"Dune"}', 0],
      ['{"year":1965}', 1965],
    ] as const)
      for (const headers of [{}, { 'If-Match': '*' }]) {
        const response = await service.fetch('PUT', '/book/1', body, headers);
        assert.equal(response.status, 200);
        const { data } = (await response.json()) as { data: object };
        assert.deepEqual(data, { id: 1, title: 'Dune', author: '', year });
      }
  }
});

test('A policy of row-level security in PostgreSQL rejects a book, and not the others of its batch', async () => {
  await using database = await createDatabase();
  await using user = await createUser(database);
  await database.query(`
    create table books (id bigserial primary key, title text, author text, year bigint);
    alter table books owner to ${user.name}; alter table books enable row level security; alter table books force row level security;
    create policy only_old on books using (true) with check (year < 1900); grant create on schema public to ${user.name}`);
  await using service = await startService({ dbUrl: user.url });
  const responses = await Promise.all(
    [1815, 1965, 1813].map((year) => service.fetch('POST', '/book', JSON.stringify({ year }))),
  );
  assert.deepEqual(
    responses.map(({ status }) => status),
    [201, 400, 201],
  );
  const detail = responses[1]?.headers.get('error-detail');
  assert.equal(detail, 'the table books does not accept this book: row-level security');
});

describe('On SQLite', () => {
  for (const conflict of ['rollback', 'fail', 'ignore'])
    test(`a constraint with "on conflict ${conflict}" stores nothing of the request, and all of the others`, async () => {
      const [sqlite] = engines;
      await using scene = await stage(
        sqlite as Engine,
        `create table books (id integer primary key autoincrement, title text unique on conflict ${conflict}, author text, year integer);
         insert into books (title) values ('${TITLE}');`,
      );
      const { service } = scene;
      const many = JSON.stringify([{ title: 'Persuasion' }, { title: TITLE }, { title: 'Sanditon' }]);
      const responses = await Promise.all([
        ...['Dune', TITLE, 'Emma'].map((title) => service.fetch('POST', '/book', JSON.stringify({ title }))),
        service.fetch('POST', '/books', many),
        service.fetch('POST', '/books', many, { 'Idempotency-Key': '"many"' }),
      ]);
      assert.deepEqual(
        responses.map(({ status }) => status),
        [201, 400, 201, 400, 400],
      );
      const index = responses[3]?.headers.get('invalid-index');
      assert.equal(index, conflict === 'rollback' ? null : '1');
      const titles = (await list(service)).map(({ title }) => title);
      assert.deepEqual(titles.toSorted(), ['Dune', 'Emma', TITLE]);
    });

  test('a trigger that fails after the change leaves nothing of it', async () => {
    const [sqlite] = engines;
    await using scene = await stage(
      sqlite as Engine,
      `create table books (id integer primary key autoincrement, title text, author text, year integer);
       create trigger late after insert on books when new.year = 13 begin select raise(fail, 'late'); end;`,
    );
    const statuses = await Promise.all(
      [12, 13, 14].map(
        async (year) => (await scene.service.fetch('POST', '/book', JSON.stringify({ year }))).status,
      ),
    );
    assert.deepEqual(statuses, [201, 400, 201]);
    assert.equal((await list(scene.service)).length, 2);
  });
});

/** Of the concurrent requests. */
function isRejected(index: number): boolean {
  return index % 20 === 7 || index === 13;
}

interface Scene extends AsyncDisposable {
  readonly service: Service;
}

/** Starts a service on a table that another program has made. */
async function stage(engine: Engine, sql: string): Promise<Scene> {
  await using stack = new AsyncDisposableStack();
  const { dbUrl } = stack.use(await engine.createAddress());
  await execute(dbUrl, sql);
  const service = stack.use(await startService({ dbUrl, hasHistory: true }));
  const kept = stack.move();
  return { service, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

async function execute(dbUrl: string, sql: string): Promise<void> {
  if (dbUrl.startsWith('sqlite:')) {
    using database = new DatabaseSync(dbUrl.slice('sqlite:'.length));
    database.exec(sql);
    return;
  }
  const client = new Client(dbUrl);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

async function list(service: Service): Promise<{ id: number; title: string }[]> {
  const { data } = (await (await service.fetch('GET', '/books')).json()) as {
    data: { id: number; title: string }[];
  };
  return data;
}
