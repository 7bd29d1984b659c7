import type { ClientBase } from 'pg';
import { COUNTED_MAX, describeMarked, formatBookCount } from '../inspection.ts';
import { findCitus } from './citus/citus.ts';
import { connect } from './connection/connect.ts';
import type { Conninfo } from './connection/conninfo.ts';
import { readState } from './migrations.ts';
import { expectRights, STORE_RIGHTS, type Verify } from './rights.ts';
import { expectBooks, expectUtf8 } from './schema.ts';

export async function inspectStore(conninfo: Conninfo, verify: Verify): Promise<string> {
  let description = '';
  const { client } = await connect(conninfo, async (connected) => {
    await connected.query('begin transaction read only');
    description = await describe(connected, verify);
  });
  await client.end();
  return description;
}

/** Verifies what a start verifies before it changes anything. */
async function describe(client: ClientBase, verify: Verify): Promise<string> {
  await expectUtf8(client);
  await expectRights(client, STORE_RIGHTS);
  const { relations } = await readState(client);
  if (!relations.has('books')) return 'the PostgreSQL database has no table books yet; it will be created';
  await expectBooks(client);
  if (!(await findCitus(client))) await verify(client);
  return [
    `the PostgreSQL database has ${formatBookCount(await count(client, 'true'))}`,
    ...describeMarked(await countMarked(client)),
  ].join('; ');
}

async function count(client: ClientBase, condition: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*) as count from (select 1 from books where ${condition} limit ${COUNTED_MAX + 1}) as books`,
  );
  return rows[0]?.count ?? 0;
}

async function countMarked(client: ClientBase): Promise<number> {
  const { rows } = await client.query(
    `select 1 from pg_attribute where attrelid = to_regclass('books') and attname = 'deleted_at' and not attisdropped`,
  );
  return rows.length > 0 ? count(client, 'deleted_at is not null') : 0;
}
