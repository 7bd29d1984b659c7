import type { ClientBase } from 'pg';
import { TEXT_NAMES } from '../../book/contract.ts';
import { GAP_ID } from '../../changes/postgres/tables.ts';
import { eachField, FIELD_LIST } from '../../store/each-field.ts';
import { REMOVAL_MAX } from '../../store/limits.ts';
import { ORDER_SETTING } from '../../store/postgres/batches/update-many.ts';
import { BOOK_COLUMNS, exact, fieldOf, HAS_EXACT_ID } from '../../store/postgres/book-columns.ts';
import type { ChangeRequest } from '../book-history.ts';
import type { ChangeRow } from '../change-page.ts';

/** The last final note. */
export async function selectLast(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ last: number }>('select book_history_last() as last');
  return rows[0]?.last ?? 0;
}

/** The state of the log, and a change; without a change, its columns are null. */
export interface StateRow extends Omit<ChangeRow, 'position'> {
  /** False after another process has turned the history off. */
  readonly isRecorded: boolean;
  readonly start: number;
  readonly startNonce: number;
  readonly nonceAtCursor: number | null;
  readonly position: number | null;
}

/** The state, of which there is one. */
const STATE = `state as materialized (
    select days is not null as "isRecorded", removed as start, removed_nonce as "startNonce" from book_history limit 1
  )`;

/** The last change up to a final note. */
export const SELECT_LAST_CHANGE = `
  with ${STATE}
  select state.*, note as position, nonce
  from state left join lateral (
    select note, nonce from book_history_changes where note > start and note <= $1 order by note desc limit 1
  ) as last on true
`;

/**
 * Reads the state and, with it, a page. The triggers record the numbers that other programs
 * write as they are.
 *
 * The first parameter is the position of the cursor or null, the second one the limit.
 */
function selectPage(
  condition: string,
  order: 'asc' | 'desc',
  { isRequested = 'true', hasGapAfter = 'false' } = {},
): string {
  return `
    with ${STATE}
    select state.*, (select nonce from book_history_changes where note = $1) as "nonceAtCursor",
      note as position, nonce, ${isRequested} and ${HAS_EXACT_ID} as "isRequested", ${hasGapAfter} as "hasGapAfter", type,
      floor(extract(epoch from at) * 1000)::bigint as at, ${exact('id')} as id, ${eachField((name) => `${fieldOf(name, 'changes')} as ${name}`)}
    from state left join lateral (
      select * from book_history_changes where ${condition} order by note ${order} limit $2
    ) as changes on true
    order by note ${order}`;
}

/** The third parameter is the last final note. Rolled-back changes have left numbers without a row. */
const SELECT_CHANGES = selectPage('note > greatest($1, (select start from state)) and note <= $3', 'asc');

const BEFORE_CURSOR = 'note < coalesce($1, 9223372036854775807)';
/** The third parameter is the book's id. */
const SELECT_OF_BOOK = selectPage(`${BEFORE_CURSOR} and id = $3`, 'desc', {
  hasGapAfter: `exists (
    select from book_history_changes as gap
    where gap.id = ${GAP_ID} and gap.note > changes.note and gap.note < coalesce(
      (select min(later.note) from book_history_changes as later where later.id = changes.id and later.note > changes.note),
      9223372036854775807
    )
  )`,
});
const SELECT_LAST_FIRST = selectPage(BEFORE_CURSOR, 'desc', { isRequested: `id <> ${GAP_ID}` });
const SELECT_DELETED = selectPage(`${BEFORE_CURSOR} and type = 'deleted'`, 'desc', {
  isRequested: `
    not exists (
      select from book_history_changes as later where later.id = changes.id and later.note > changes.note
    ) and not exists (select from books where books.id = changes.id)`,
});

/** @param last the last final note, for followers */
export function statementOf(
  { of, after, limit }: ChangeRequest,
  last: number,
): { text: string; values: unknown[] } {
  const values = [after?.position ?? null, limit];
  if (of === undefined) return { text: SELECT_CHANGES, values: [...values, last] };
  if (of === 'all') return { text: SELECT_LAST_FIRST, values };
  if (of === 'deleted') return { text: SELECT_DELETED, values };
  return { text: SELECT_OF_BOOK, values: [...values, of] };
}

/** Gives the log the order of the ids in the request, which are joined by commas. */
export const SET_ORDER = `select set_config('${ORDER_SETTING}', $1, true)`;

/**
 * Stores books as they were when they were deleted, or none of them, and then the first reason. The parameters are their ids, the
 * positions and nonces of the deletions, or null for the last ones, and the most bytes of their texts as JSON.
 *
 * It writes to these changes. So a statement that has waited for another restore of a book finds another version of the change, and
 * does not restore what may be older than the last deletion. Then there are fewer rows than ids, without a fault.
 */
export const RESTORE = `
  with ${STATE}, requested as materialized (
    select number - 1 as index, last.note, version, bytes, case
        when exists (select from books where books.id = given.id) then 'exists'
        when last.note is null then 'absent'
        when (last.note, last.nonce) <> (given.note, given.nonce) then 'changed'
        when type <> 'deleted' then 'absent'
      end as fault
    from unnest($1::bigint[], $2::bigint[], $3::bigint[]) with ordinality as given (id, note, nonce, number) left join lateral (
      select note, nonce, xmin as version, type, octet_length(json_build_array(${TEXT_NAMES.join(', ')})::text) as bytes
      from book_history_changes as changes where changes.id = given.id order by note desc limit 1
    ) as last on true
  ), fault as (
    select index, coalesce(fault, 'too long') as fault from requested
    where fault is not null or (select sum(bytes) from requested) > $4
    order by fault is null, index limit 1
  ), deleted as (
    update book_history_changes as changes set at = changes.at from requested cross join state
    where changes.note = requested.note and changes.xmin = requested.version and "isRecorded"
      and not exists (select from fault)
    returning changes.id, ${eachField((name) => `changes.${name}`)}
  ), restored as (
    insert into books (id, ${FIELD_LIST}) overriding system value
    select id, ${eachField((name) => fieldOf(name, 'deleted'))} from deleted
    on conflict (id) do nothing
    returning ${BOOK_COLUMNS}
  )
  select "isRecorded", index, fault, (select coalesce(sum(bytes), 0) from requested) as bytes, restored.*
  from state left join fault on true left join restored on true
`;

/**
 * Removes the first changes, if they are old, in a step that other writers need not wait for. The parameter is the last
 * final note. A trigger moves `removed`.
 */
export const REMOVE_OLD = `
  with first as (select note, at from book_history_changes where note <= $1 order by note limit ${REMOVAL_MAX})
  delete from book_history_changes
  where note <= (
    select max(note) from first cross join book_history where at < now() - days * interval '1 day'
  )
`;
