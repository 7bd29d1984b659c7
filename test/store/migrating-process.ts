import { furtherMigration, prepareTablesAt } from './further-migration.ts';

// A separate process that stays in a further migration, behind its first statement.
const [, , dbUrl = '', lock = ''] = process.argv;
using _ = furtherMigration(
  dbUrl.startsWith('sqlite:')
    ? 'with recursive numbers (n) as (select 1 from books union all select n + 1 from numbers) select max(n) from numbers'
    : `select pg_advisory_xact_lock(${lock})`,
);
await prepareTablesAt(dbUrl);
