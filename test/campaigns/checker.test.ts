import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Checker } from '../../campaigns/checker.ts';
import type { Call, Operation, Outcome } from '../../campaigns/journal.ts';
import type { Book, BookFields } from '../../src/book/contract.ts';

const ILIAD: BookFields = { title: 'The Iliad', author: 'Homer', year: -750 };
const EMMA: BookFields = { title: 'Emma', author: 'Jane Austen', year: 1815 };
const book = (id: number, fields: BookFields): Book => ({ id, ...fields });

const done = (data: Book | null): Outcome => ({ is: 'done', data });
const absent: Outcome = { is: 'absent' };
const rejected: Outcome = { is: 'rejected', status: 413 };
const unknown: Outcome = { is: 'unknown', reason: 'status 503' };

const call = (operation: Operation, start: number, end: number, outcome: Outcome): Call => ({
  ...operation,
  start,
  end,
  outcome,
});
const create = (sent: BookFields, start: number, end: number, outcome: Outcome) =>
  call({ kind: 'create', sent }, start, end, outcome);
const update = (id: number, sent: Partial<BookFields>, start: number, end: number, outcome: Outcome) =>
  call({ kind: 'update', id, sent }, start, end, outcome);
const find = (id: number, start: number, end: number, outcome: Outcome) =>
  call({ kind: 'find', id }, start, end, outcome);
const remove = (id: number, start: number, end: number, outcome: Outcome) =>
  call({ kind: 'delete', id }, start, end, outcome);

/** The calls of a round, and the list after it. */
type Round = readonly [calls: readonly Call[], list: readonly Book[]];

/** The first round of others: it creates book 1. */
const CREATED: Round = [[create(ILIAD, 1, 2, done(book(1, ILIAD)))], [book(1, ILIAD)]];

const renamed = { ...ILIAD, title: 'Ilias' };
const redated = { ...ILIAD, year: -720 };
const both = { ...renamed, year: -720 };

const CLEAN: Readonly<Record<string, readonly Round[]>> = {
  'nothing at all': [[[], []]],
  'a book that was acknowledged and is listed': [CREATED],
  'a book that is still listed a round later': [CREATED, [[], [book(1, ILIAD)]]],
  'an unknown create that happened': [[[create(ILIAD, 1, 2, unknown)], [book(1, ILIAD)]]],
  'an unknown create that did not happen': [[[create(ILIAD, 1, 2, unknown)], []]],
  'an unknown create that happens two rounds later': [
    [[create(ILIAD, 1, 2, unknown)], []],
    [[], []],
    [[], [book(1, ILIAD)]],
  ],
  'a rejected create': [[[create(ILIAD, 1, 2, rejected)], []]],
  'an update': [CREATED, [[update(1, { title: 'Ilias' }, 1, 2, done(book(1, renamed)))], [book(1, renamed)]]],
  'an unknown update that happened': [
    CREATED,
    [[update(1, { year: -720 }, 1, 2, unknown)], [book(1, redated)]],
  ],
  'an unknown update that did not': [CREATED, [[update(1, { year: -720 }, 1, 2, unknown)], [book(1, ILIAD)]]],
  'an unknown update that takes effect after later requests have ended': [
    CREATED,
    [
      [
        update(1, { year: -720 }, 1, 2, unknown),
        find(1, 3, 4, done(book(1, ILIAD))),
        find(1, 5, 6, done(book(1, redated))),
      ],
      [book(1, redated)],
    ],
  ],
  'updates of different fields at once': [
    CREATED,
    [
      [
        update(1, { title: 'Ilias' }, 1, 4, done(book(1, both))),
        update(1, { year: -720 }, 2, 3, done(book(1, redated))),
      ],
      [book(1, both)],
    ],
  ],
  'a delete': [CREATED, [[remove(1, 1, 2, done(null)), find(1, 3, 4, absent), remove(1, 5, 6, absent)], []]],
  'an unknown delete that happened': [CREATED, [[remove(1, 1, 2, unknown)], []]],
  'an unknown delete that did not': [CREATED, [[remove(1, 1, 2, unknown)], [book(1, ILIAD)]]],
  'an unknown delete that happens a round later': [
    CREATED,
    [[remove(1, 1, 2, unknown)], [book(1, ILIAD)]],
    [[find(1, 1, 2, done(book(1, ILIAD))), find(1, 3, 4, absent)], []],
  ],
  'unknown deletes of which only the first to start explains a 404': [
    CREATED,
    [[find(1, 2, 3, absent), remove(1, 4, 5, unknown), remove(1, 1, 6, unknown)], []],
  ],
  'a delete during a read of the book': [
    CREATED,
    [[remove(1, 1, 4, done(null)), find(1, 2, 3, done(book(1, ILIAD)))], []],
  ],
};

const FAULTY: Readonly<Record<string, readonly [readonly Round[], RegExp]>> = {
  'an acknowledged book that is lost': [[[CREATED[0], []]], /Book 1 is lost/],
  'a listed book that is lost a round later': [[CREATED, [[], []]], /Book 1 is lost/],
  'an acknowledged book with a field changed': [[[CREATED[0], [book(1, redated)]]], /explains the list/],
  'a response that differs from the request': [
    [[[create(ILIAD, 1, 2, done(book(1, redated)))], [book(1, redated)]]],
    /explains .*"kind":"create"/,
  ],
  'a book twice in the list': [[[CREATED[0], [book(1, ILIAD), book(1, ILIAD)]]], /twice/],
  'a book stored twice under two ids': [
    [[CREATED[0], [book(1, ILIAD), book(2, ILIAD)]]],
    /Book 2 .*no request/,
  ],
  'an unknown create that happened twice': [
    [[[create(ILIAD, 1, 2, unknown)], [book(1, ILIAD), book(2, ILIAD)]]],
    /Book 2 .*no request/,
  ],
  'a book that no client sent': [[[[], [book(1, EMMA)]]], /Book 1 .*no request/],
  'a rejected create that happened': [[[[create(ILIAD, 1, 2, rejected)], [book(1, ILIAD)]]], /no request/],
  'a rejected update that happened': [
    [CREATED, [[update(1, { year: -720 }, 1, 2, rejected)], [book(1, redated)]]],
    /explains the list/,
  ],
  'an acknowledged update that is lost': [
    [CREATED, [[update(1, { year: -720 }, 1, 2, done(book(1, redated)))], [book(1, ILIAD)]]],
    /explains the list/,
  ],
  'half of an unknown update': [
    [CREATED, [[update(1, { title: 'Ilias', year: -720 }, 1, 2, unknown)], [book(1, redated)]]],
    /explains the list/,
  ],
  'an unknown update that is read once and then lost': [
    [
      CREATED,
      [[update(1, { year: -720 }, 1, 2, unknown), find(1, 3, 4, done(book(1, redated)))], [book(1, ILIAD)]],
    ],
    /explains the list/,
  ],
  'an update of one field that reverts another': [
    [
      CREATED,
      [
        [
          update(1, { title: 'Ilias' }, 1, 4, done(book(1, renamed))),
          update(1, { year: -720 }, 2, 3, done(book(1, redated))),
        ],
        [book(1, renamed)],
      ],
    ],
    /"kind":"update"/,
  ],
  'a stale read': [
    [
      CREATED,
      [
        [update(1, { year: -720 }, 1, 2, done(book(1, redated))), find(1, 3, 4, done(book(1, ILIAD)))],
        [book(1, redated)],
      ],
    ],
    /"kind":"find"/,
  ],
  'a 404 for a book that exists': [[CREATED, [[find(1, 1, 2, absent)], [book(1, ILIAD)]]], /"kind":"find"/],
  'a response with another book': [
    [CREATED, [[find(1, 1, 2, done(book(2, ILIAD)))], [book(1, ILIAD)]]],
    /"kind":"find"/,
  ],
  'a deleted book that is listed': [
    [CREATED, [[remove(1, 1, 2, done(null))], [book(1, ILIAD)]]],
    /deletion was acknowledged/,
  ],
  'a deleted book that is back a round later': [
    [CREATED, [[remove(1, 1, 2, done(null))], []], [[], [book(1, ILIAD)]]],
    /Book 1 .*no request/,
  ],
  'a deleted book that is found': [
    [CREATED, [[remove(1, 1, 2, done(null)), find(1, 3, 4, done(book(1, ILIAD)))], []]],
    /"kind":"find"/,
  ],
  'a book deleted twice': [
    [CREATED, [[remove(1, 1, 2, done(null)), remove(1, 3, 4, done(null))], []]],
    /"kind":"delete"/,
  ],
  'an id assigned to two books at once': [
    [[[...CREATED[0], create(EMMA, 3, 4, done(book(1, EMMA)))], [book(1, EMMA)]]],
    /assigned twice/,
  ],
  'an id assigned again after its book was deleted': [
    [
      [
        [...CREATED[0], remove(1, 3, 4, done(null)), create(EMMA, 5, 6, done(book(1, EMMA)))],
        [book(1, EMMA)],
      ],
    ],
    /assigned twice/,
  ],
  'an id assigned again in a later round': [
    [
      CREATED,
      [[remove(1, 1, 2, done(null))], []],
      [[create(EMMA, 1, 2, done(book(1, EMMA)))], [book(1, EMMA)]],
    ],
    /assigned twice/,
  ],
  'an id assigned again by an unknown create': [
    [CREATED, [[remove(1, 1, 2, done(null))], []], [[create(EMMA, 1, 2, unknown)], [book(1, EMMA)]]],
    /assigned twice/,
  ],
};

describe('The verdict on a store', () => {
  for (const [name, rounds] of Object.entries(CLEAN)) {
    test(`is clean after ${name}`, () => {
      assert.deepEqual(judge(rounds), []);
    });
  }

  for (const [name, [rounds, violation]] of Object.entries(FAULTY)) {
    test(`reports ${name}`, () => {
      assert.match(judge(rounds).join('\n'), violation);
    });
  }
});

/** The violations of the last round; the rounds before it must have none. */
function judge(rounds: readonly Round[]): string[] {
  const checker = new Checker();
  for (const [calls, list] of rounds.slice(0, -1)) assert.deepEqual(checker.judge(calls, list), []);
  const [calls, list] = rounds.at(-1) ?? [[], []];
  return checker.judge(calls, list);
}

/** What a failover may do, and what not; the former primary has ended at time 10. */
const PRIMARY_END = 10;
const VANISHED: Readonly<Record<string, readonly Round[]>> = {
  'a book that was read, and then is absent': [
    [[create(ILIAD, 1, 20, unknown), find(1, 2, 9, done(book(1, ILIAD))), find(1, 12, 13, absent)], []],
  ],
  'an update that was read, and then is absent': [
    CREATED,
    [
      [
        update(1, { year: -720 }, 1, 20, unknown),
        find(1, 2, 3, done(book(1, ILIAD))),
        find(1, 4, 11, done(book(1, redated))),
        update(1, { title: 'Ilias' }, 12, 13, done(book(1, renamed))),
      ],
      [book(1, renamed)],
    ],
  ],
  'a deletion that was read, and then is absent': [
    CREATED,
    [
      [remove(1, 1, 20, unknown), find(1, 2, 9, absent), find(1, 12, 13, done(book(1, ILIAD)))],
      [book(1, ILIAD)],
    ],
  ],
};
const NOT_EXCUSED: Readonly<Record<string, readonly Round[]>> = {
  'an acknowledged book that is absent': [
    [[create(ILIAD, 1, 2, done(book(1, ILIAD))), find(1, 3, 4, done(book(1, ILIAD)))], []],
  ],
  'an acknowledged update that is absent': [
    CREATED,
    [
      [update(1, { year: -720 }, 1, 2, done(book(1, redated))), find(1, 3, 4, done(book(1, redated)))],
      [book(1, ILIAD)],
    ],
  ],
  'a book that was read after the end of the former primary, and then is absent': [
    [[create(ILIAD, 1, 20, unknown), find(1, 11, 12, done(book(1, ILIAD)))], []],
  ],
  'an update that was read before and after the end, and then is absent': [
    CREATED,
    [
      [
        update(1, { year: -720 }, 1, 20, unknown),
        find(1, 2, 3, done(book(1, redated))),
        find(1, 12, 13, done(book(1, redated))),
      ],
      [book(1, ILIAD)],
    ],
  ],
  'an update that was read, was absent before the end, and is absent': [
    CREATED,
    [
      [
        update(1, { year: -720 }, 1, 20, unknown),
        find(1, 2, 3, done(book(1, redated))),
        find(1, 4, 5, done(book(1, ILIAD))),
      ],
      [book(1, ILIAD)],
    ],
  ],
  'an update that an acknowledged one has built on, and then is absent': [
    CREATED,
    [
      [
        update(1, { year: -720 }, 1, 20, unknown),
        find(1, 2, 3, done(book(1, redated))),
        update(1, { title: 'Ilias' }, 4, 5, done(book(1, both))),
      ],
      [book(1, renamed)],
    ],
  ],
  'a book that no client sent, and then is absent': [
    [[create(ILIAD, 1, 20, unknown), find(1, 2, 9, done(book(1, EMMA)))], []],
  ],
  'a book that was read under two ids': [
    [
      [
        create(ILIAD, 1, 20, unknown),
        find(1, 2, 9, done(book(1, ILIAD))),
        find(2, 2, 9, done(book(2, ILIAD))),
      ],
      [],
    ],
  ],
  'a book that was read, and whose id another one has afterwards': [
    [
      [
        create(ILIAD, 1, 20, unknown),
        find(1, 2, 9, done(book(1, ILIAD))),
        create(EMMA, 12, 13, done(book(1, EMMA))),
      ],
      [book(1, EMMA)],
    ],
  ],
  'a book that was read, is absent, and is back a round later': [
    [[create(ILIAD, 1, 20, unknown), find(1, 2, 9, done(book(1, ILIAD)))], []],
    [[], [book(1, ILIAD)]],
  ],
};

describe('The verdict after a failover', () => {
  for (const [name, rounds] of Object.entries(VANISHED)) {
    test(`counts ${name}`, () => {
      assert.notDeepEqual(judge(rounds), []);
      const checker = new Checker();
      for (const [calls, list] of rounds) assert.deepEqual(checker.judge(calls, list, PRIMARY_END), []);
      assert.equal(checker.vanished, 1);
    });
  }

  for (const [name, rounds] of Object.entries(NOT_EXCUSED)) {
    test(`reports ${name}`, () => {
      const checker = new Checker();
      const violations = rounds.map(([calls, list]) => checker.judge(calls, list, PRIMARY_END));
      assert.notDeepEqual(violations.at(-1), []);
      assert.deepEqual(violations.slice(0, -1).flat(), []);
    });
  }
});
