import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { formatLine } from '../../src/log/log-terminal.ts';

const TIME = new Date(2026, 0, 2, 3, 4, 5).getTime();

describe('The log on a terminal', () => {
  for (const [what, line, expected] of [
    [
      'has time, level, request, duration and id',
      { level: 30, time: TIME, id: 'a-1', method: 'GET', route: '/book/:id', status: 200, ms: 0.4567 },
      '03:04:05 info  GET    /book/:id    200 0.5 ms a-1',
    ],
    [
      'has the reason of a failure',
      {
        level: 50,
        time: TIME,
        id: 'a-1',
        method: 'PUT',
        route: null,
        status: 503,
        ms: 1,
        reason: '08006',
        msg: 'x',
      },
      '03:04:05 error PUT    -            503 x (08006) 1.0 ms a-1',
    ],
    [
      'has the stack of an error without control characters',
      { level: 50, time: TIME, status: 500, err: { message: 'm', stack: 'Error: m\u001b[2J\u0007\n  at x' } },
      '03:04:05 error -      -            500 \nError: m?[2J?\n  at x',
    ],
    [
      'has rejected connections without a method',
      { level: 30, time: TIME, id: 'a-1', method: null, route: null, status: 400, msg: 'refused unread' },
      '03:04:05 info  -      -            400 refused unread a-1',
    ],
    ['has other messages', { level: 40, time: TIME, msg: 'a word' }, '03:04:05 warn  a word'],
    [
      'has levels without a name as numbers',
      { level: 35, time: TIME, msg: 'a word' },
      '03:04:05 35    a word',
    ],
  ] as const) {
    test(what, () => {
      assert.equal(stripVTControlCharacters(formatLine(`${JSON.stringify(line)}\n`)), expected);
    });
  }

  test('has text other than JSON unchanged', () => {
    assert.equal(formatLine('a word\n'), 'a word');
  });
});
