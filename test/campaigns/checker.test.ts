import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Checker } from '../../campaigns/checker.ts';
import type { Call, Ending, Wish } from '../../campaigns/journal.ts';
import type { Book, BookFields } from '../../src/book/book.ts';

const ILIAD: BookFields = { title: 'The Iliad', author: 'Homer', year: -750 };
const EMMA: BookFields = { title: 'Emma', author: 'Jane Austen', year: 1815 };
const book = (id: number, fields: BookFields): Book => ({ id, ...fields });

const done = (data: Book | null): Ending => ({ is: 'done', data });
const absent: Ending = { is: 'absent' };
const refused: Ending = { is: 'refused', status: 413 };
const unknown: Ending = { is: 'unknown', reason: 'status 503' };

const call = (wish: Wish, start: number, end: number, ending: Ending): Call => ({
  ...wish,
  start,
  end,
  ending,
});
const create = (sent: BookFields, start: number, end: number, ending: Ending) =>
  call({ kind: 'create', sent }, start, end, ending);
const update = (id: number, sent: Partial<BookFields>, start: number, end: number, ending: Ending) =>
  call({ kind: 'update', id, sent }, start, end, ending);
const find = (id: number, start: number, end: number, ending: Ending) =>
  call({ kind: 'find', id }, start, end, ending);
const remove = (id: number, start: number, end: number, ending: Ending) =>
  call({ kind: 'delete', id }, start, end, ending);

/** What happened, and the list after it. */
type Round = readonly [calls: readonly Call[], list: readonly Book[]];

/** The round that others follow: book 1 exists. */
const MADE: Round = [[create(ILIAD, 1, 2, done(book(1, ILIAD)))], [book(1, ILIAD)]];

const renamed = { ...ILIAD, title: 'Ilias' };
const redated = { ...ILIAD, year: -720 };
const both = { ...renamed, year: -720 };

const CLEAN: Readonly<Record<string, readonly Round[]>> = {
  'nothing at all': [[[], []]],
  'a book that was acknowledged and is listed': [MADE],
  'a book that stays over rounds': [MADE, [[], [book(1, ILIAD)]]],
  'an unknown create that happened': [[[create(ILIAD, 1, 2, unknown)], [book(1, ILIAD)]]],
  'an unknown create that did not happen': [[[create(ILIAD, 1, 2, unknown)], []]],
  'an unknown create that happens two rounds later': [
    [[create(ILIAD, 1, 2, unknown)], []],
    [[], []],
    [[], [book(1, ILIAD)]],
  ],
  'a refused create': [[[create(ILIAD, 1, 2, refused)], []]],
  'an update': [MADE, [[update(1, { title: 'Ilias' }, 1, 2, done(book(1, renamed)))], [book(1, renamed)]]],
  'an unknown update that happened': [MADE, [[update(1, { year: -720 }, 1, 2, unknown)], [book(1, redated)]]],
  'an unknown update that did not': [MADE, [[update(1, { year: -720 }, 1, 2, unknown)], [book(1, ILIAD)]]],
  'an unknown update that is seen only after others were answered': [
    MADE,
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
    MADE,
    [
      [
        update(1, { title: 'Ilias' }, 1, 4, done(book(1, both))),
        update(1, { year: -720 }, 2, 3, done(book(1, redated))),
      ],
      [book(1, both)],
    ],
  ],
  'a delete': [MADE, [[remove(1, 1, 2, done(null)), find(1, 3, 4, absent), remove(1, 5, 6, absent)], []]],
  'an unknown delete that happened': [MADE, [[remove(1, 1, 2, unknown)], []]],
  'an unknown delete that did not': [MADE, [[remove(1, 1, 2, unknown)], [book(1, ILIAD)]]],
  'an unknown delete that happens a round later': [
    MADE,
    [[remove(1, 1, 2, unknown)], [book(1, ILIAD)]],
    [[find(1, 1, 2, done(book(1, ILIAD))), find(1, 3, 4, absent)], []],
  ],
  'unknown deletes of which only the first to begin explains a 404': [
    MADE,
    [[find(1, 2, 3, absent), remove(1, 4, 5, unknown), remove(1, 1, 6, unknown)], []],
  ],
  'a delete, while somebody still reads the book': [
    MADE,
    [[remove(1, 1, 4, done(null)), find(1, 2, 3, done(book(1, ILIAD)))], []],
  ],
};

const FAULTY: Readonly<Record<string, readonly [readonly Round[], RegExp]>> = {
  'an acknowledged book that is lost': [[[MADE[0], []]], /Book 1 is lost/],
  'a listed book that is lost a round later': [[MADE, [[], []]], /Book 1 is lost/],
  'an acknowledged book with a field changed': [[[MADE[0], [book(1, redated)]]], /explains the list/],
  'an answer that is not what was sent': [
    [[[create(ILIAD, 1, 2, done(book(1, redated)))], [book(1, redated)]]],
    /explains .*"kind":"create"/,
  ],
  'a book twice in the list': [[[MADE[0], [book(1, ILIAD), book(1, ILIAD)]]], /twice/],
  'a book stored twice under two ids': [[[MADE[0], [book(1, ILIAD), book(2, ILIAD)]]], /Book 2 .*nobody/],
  'an unknown create that happened twice': [
    [[[create(ILIAD, 1, 2, unknown)], [book(1, ILIAD), book(2, ILIAD)]]],
    /Book 2 .*nobody/,
  ],
  'a book that nobody sent': [[[[], [book(1, EMMA)]]], /Book 1 .*nobody/],
  'a refused create that happened': [[[[create(ILIAD, 1, 2, refused)], [book(1, ILIAD)]]], /nobody/],
  'a refused update that happened': [
    [MADE, [[update(1, { year: -720 }, 1, 2, refused)], [book(1, redated)]]],
    /explains the list/,
  ],
  'an acknowledged update that is lost': [
    [MADE, [[update(1, { year: -720 }, 1, 2, done(book(1, redated)))], [book(1, ILIAD)]]],
    /explains the list/,
  ],
  'half of an unknown update': [
    [MADE, [[update(1, { title: 'Ilias', year: -720 }, 1, 2, unknown)], [book(1, redated)]]],
    /explains the list/,
  ],
  'an unknown update that is seen and then gone': [
    [
      MADE,
      [[update(1, { year: -720 }, 1, 2, unknown), find(1, 3, 4, done(book(1, redated)))], [book(1, ILIAD)]],
    ],
    /explains the list/,
  ],
  'an update of one field that takes another back': [
    [
      MADE,
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
      MADE,
      [
        [update(1, { year: -720 }, 1, 2, done(book(1, redated))), find(1, 3, 4, done(book(1, ILIAD)))],
        [book(1, redated)],
      ],
    ],
    /"kind":"find"/,
  ],
  'a 404 for a book that exists': [[MADE, [[find(1, 1, 2, absent)], [book(1, ILIAD)]]], /"kind":"find"/],
  'an answer about another book': [
    [MADE, [[find(1, 1, 2, done(book(2, ILIAD)))], [book(1, ILIAD)]]],
    /"kind":"find"/,
  ],
  'a deleted book that is listed': [
    [MADE, [[remove(1, 1, 2, done(null))], [book(1, ILIAD)]]],
    /deletion was acknowledged/,
  ],
  'a deleted book that is back a round later': [
    [MADE, [[remove(1, 1, 2, done(null))], []], [[], [book(1, ILIAD)]]],
    /Book 1 .*nobody/,
  ],
  'a deleted book that is found': [
    [MADE, [[remove(1, 1, 2, done(null)), find(1, 3, 4, done(book(1, ILIAD)))], []]],
    /"kind":"find"/,
  ],
  'a book deleted twice': [
    [MADE, [[remove(1, 1, 2, done(null)), remove(1, 3, 4, done(null))], []]],
    /"kind":"delete"/,
  ],
  'an id given to two books at once': [
    [[[...MADE[0], create(EMMA, 3, 4, done(book(1, EMMA)))], [book(1, EMMA)]]],
    /given twice/,
  ],
  'an id given again after its book was deleted': [
    [[[...MADE[0], remove(1, 3, 4, done(null)), create(EMMA, 5, 6, done(book(1, EMMA)))], [book(1, EMMA)]]],
    /given twice/,
  ],
  'an id given again in a later round': [
    [MADE, [[remove(1, 1, 2, done(null))], []], [[create(EMMA, 1, 2, done(book(1, EMMA)))], [book(1, EMMA)]]],
    /given twice/,
  ],
  'an id given again by an unknown create': [
    [MADE, [[remove(1, 1, 2, done(null))], []], [[create(EMMA, 1, 2, unknown)], [book(1, EMMA)]]],
    /given twice/,
  ],
};

describe('The verdict on a store', () => {
  for (const [name, rounds] of Object.entries(CLEAN)) {
    test(`is clean after ${name}`, () => {
      assert.deepEqual(judge(rounds), []);
    });
  }

  for (const [name, [rounds, complaint]] of Object.entries(FAULTY)) {
    test(`tells of ${name}`, () => {
      assert.match(judge(rounds).join('\n'), complaint);
    });
  }
});

/** The verdict on the last round; those before it must be clean. */
function judge(rounds: readonly Round[]): string[] {
  const checker = new Checker();
  for (const [calls, list] of rounds.slice(0, -1)) assert.deepEqual(checker.judge(calls, list), []);
  const [calls, list] = rounds.at(-1) ?? [[], []];
  return checker.judge(calls, list);
}
