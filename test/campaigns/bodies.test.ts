import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Books } from '../../campaigns/bodies/books.ts';
import { campaign } from '../../campaigns/bodies/campaign.ts';
import type { HostileRequest } from '../../campaigns/bodies/requests.ts';
import { runShort } from '../../campaigns/campaign.ts';

test('both engines respond to arbitrary requests in the envelope, equal to the byte, and store what they report', async () => {
  // Few searches find books; with this seed some do.
  const seed = 2;
  const figures = await runShort(campaign, 'SQLite', seed);
  for (const name of [
    ...[200, 201, 400, 401, 404].map((status) => `status ${status}`),
    'searches that found books',
  ])
    assert.ok(Number(figures[name]) > 0, `no ${name}`);
});

test('the verdict on searches reports a book that is missing, too many, stale or out of order, a wrong total and a wrong link', () => {
  const books = [
    { id: 1, title: 'b', author: '', year: 1 },
    { id: 2, title: 'a', author: '', year: 2 },
    { id: 3, title: 'c', author: '', year: 3 },
  ] as const;
  const [b, a, c] = books;
  const query = { parameters: { sort: 'title', limit: '2', count: 'true' }, after: undefined };
  const link = `</books?after=${Buffer.from('["title",1,"b\\u0001b",4]').toString('base64url')}>; rel="next"`;
  const headers = { link, 'x-total-count': '3' };
  const judge = (data: readonly unknown[], fields: Record<string, string>): void => {
    const model = new Books();
    for (const book of books) {
      const body = Buffer.from(JSON.stringify({ title: book.title, year: book.year }));
      const created = { status: 201, message: 'Book created successfully', data: book };
      model.apply({ ...request('POST', '/book'), body }, response(created));
    }
    const found = { status: 200, message: 'Books retrieved successfully', data };
    model.apply({ ...request('GET', '/books'), query }, response(found, fields));
  };
  judge([a, b], headers);
  for (const wrong of [[a], [b], [], [a, b, c], [b, a], [a, c], [a, { ...b, year: 9 }]])
    assert.throws(() => judge(wrong, headers), { code: 'ERR_ASSERTION' });
  for (const wrong of [{ link }, { ...headers, 'x-total-count': '2' }, { 'x-total-count': '3' }])
    assert.throws(() => judge([a, b], wrong), { code: 'ERR_ASSERTION' });
  const otherLink = link.replace(/after=.*>/, 'after=WyJ0aXRsZSIsMiwiYSJd>');
  assert.throws(() => judge([a, b], { ...headers, link: otherLink }), { code: 'ERR_ASSERTION' });
});

function request(method: HostileRequest['method'], path: string): HostileRequest {
  return { method, path, token: undefined, lines: [], body: new Uint8Array(), isChunked: false };
}

function response(envelope: { status: number }, headers: Record<string, string> = {}) {
  return { status: envelope.status, headers: new Headers(headers), body: JSON.stringify(envelope) };
}
