import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { YEAR_MAX } from '../../src/book/book.ts';
import { queryAfter } from '../../src/http/query-parameters.ts';
import { Rejection } from '../../src/http/rejection.ts';
import { listParameters, readListRequest } from '../../src/search/query.ts';

const EVERYTHING = { sort: 'id', isDescending: false, yearFrom: -YEAR_MAX, yearTo: YEAR_MAX };

describe('The query of GET /books', () => {
  test('without a known parameter is the whole list', () => {
    for (const target of ['/books', '/books?', '/books?page=1', '/books?LIMIT=1', '/books?%zz=1&__proto__=x'])
      assert.equal(readListRequest(target), undefined, target);
  });

  test('is read as a form writes it', () => {
    const target = '/books?q=a+b&title=%E2%82%AC%2B&author=caf\xc3\xa9&sort=-year&limit=010&count=true&x=%ff';
    assert.deepEqual(readListRequest(target), {
      query: { ...EVERYTHING, sort: 'year', isDescending: true, q: 'a b', title: '€+', author: 'café' },
      sort: '-year',
      limit: 10,
      after: undefined,
      isFrom: false,
      isCounted: true,
    });
  });

  test('has the years that meet all of its conditions', () => {
    assert.deepEqual(years('year=5'), [5, 5]);
    assert.deepEqual(years('year_from=-5'), [-5, YEAR_MAX]);
    assert.deepEqual(years('year_to=5&year_from=2'), [2, 5]);
    assert.deepEqual(years('year=5&year_from=6&year_to=9'), [6, 5]);
  });

  test('is invalid with any wrong value of any parameter', () => {
    for (const [name, schema] of Object.entries(listParameters)) {
      const wrong = 'enum' in schema ? 'x' : schema.type === 'string' ? '%00' : '1.0';
      for (const value of [wrong, '%c3'])
        assert.match(detailOf(`/books?${name}=${value}`), new RegExp(`^${name} must be `));
    }
    for (const query of ['twins=true&sort=id', 'sort=-title&twins=true', 'twins=true&from=m'])
      assert.equal(detailOf(`/books?${query}`), 'twins excludes sort and from');
    assert.equal(detailOf('/books?twins=true&after=x'), 'after must be a cursor of sort=twins');
    assert.equal(detailOf('/books?limit=1001'), 'limit must be an integer from 1 to 1000');
    assert.equal(detailOf('/books?q=a&q=b'), 'q is repeated');
    assert.ok(!(readListRequest(`/books?q=${'a.'.repeat(32)}`) instanceof Rejection));
    assert.equal(detailOf(`/books?q=${'a.'.repeat(33)}`), 'q must have at most 32 words');
    assert.equal(detailOf('/books?sort=-title&after=x'), 'after must be a cursor of sort=-title');
    for (const query of ['from=m', 'from=', 'from=1.0', 'from=9007199254740992'])
      assert.equal(
        detailOf(`/books?sort=-year&${query}`),
        `from must be an integer from -${YEAR_MAX} to ${YEAR_MAX} with sort=-year`,
      );
    for (const query of ['after=x&from=1', 'after=x&offset=1', 'offset=0&from=1', 'offset=0&from=x&after=x'])
      assert.equal(detailOf(`/books?${query}`), 'after, offset, from exclude each other');
  });
});

describe('The query of the next page', () => {
  test('has all parameters of the request, with another cursor', () => {
    assert.equal(queryAfter('/books?limit=1&after=x&q=a+b&&y', 'c'), 'limit=1&q=a+b&y&after=c');
    assert.equal(queryAfter('/books?%61fter=x&limit=1', 'c'), 'limit=1&after=c');
    assert.equal(queryAfter('/books?offset=5&limit=1&from=x', 'c'), 'limit=1&after=c');
  });

  test('has no characters that end the URL or the header', () => {
    assert.equal(
      queryAfter('/books?q=<>"{}|\\^`\xc3\xa9', 'c'),
      'q=%3C%3E%22%7B%7D%7C%5C%5E%60%c3%a9&after=c',
    );
  });
});

/** The first and the last year that a query asks for. */
function years(text: string): number[] {
  const asked = readListRequest(`/books?${text}`);
  assert.ok(asked && !(asked instanceof Rejection));
  return [asked.query.yearFrom, asked.query.yearTo];
}

function detailOf(target: string): string {
  const request = readListRequest(target);
  assert.ok(request instanceof Rejection, target);
  return request.detail ?? '';
}
