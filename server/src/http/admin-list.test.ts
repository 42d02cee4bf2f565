import assert from 'node:assert/strict';
import { test } from 'node:test';

import { InvalidPositionError, type PageRequest } from '#server/db/list.ts';
import { InvalidRequestError } from '#server/errors.ts';

import { answerPage, readPageRequest } from './admin-list.ts';

const position = { value: '2026-01-01 00:00:00+00', id: '7' };

const readFirstPage = async () => ({ rows: [], next: position });
const readLastPage = async () => ({ rows: [1, 2], next: null });
const refusePosition = () => Promise.reject(new InvalidPositionError());

async function cursorOf(request: PageRequest): Promise<string> {
  const { next_cursor } = await answerPage(request, readFirstPage, String);
  assert.ok(next_cursor !== null);
  return next_cursor;
}

test('without parameters, the first page in the default order has 50 items', () => {
  assert.deepEqual(readPageRequest({}, '-created_at'), {
    sort: 'created_at',
    descending: true,
    after: null,
    limit: 50,
  });
});

test('the cursor of a page continues the list in the same order', async () => {
  const cursor = await cursorOf(readPageRequest({ sort: 'name' }, '-created_at'));
  assert.deepEqual(readPageRequest({ sort: 'name', cursor, limit: '200' }, '-created_at'), {
    sort: 'name',
    descending: false,
    after: position,
    limit: 200,
  });
});

test('the last page has no cursor', async () => {
  assert.deepEqual(await answerPage(readPageRequest({}, 'id'), readLastPage, String), {
    items: ['1', '2'],
    next_cursor: null,
  });
});

for (const limit of ['0', '201', '-1', '1.5', 'x', '', '٣']) {
  test(`the limit ${JSON.stringify(limit)} is refused`, () => {
    assert.throws(() => readPageRequest({ limit }, 'id'), InvalidRequestError);
  });
}

test('a cursor of another order, or that is not one, is refused', async () => {
  const cursor = await cursorOf(readPageRequest({ sort: 'name' }, 'id'));
  const others = [cursor.slice(1), 'x', '', Buffer.from('{}').toString('base64url')];
  assert.throws(() => readPageRequest({ sort: '-name', cursor }, 'id'), InvalidRequestError);
  for (const other of others) {
    assert.throws(
      () => readPageRequest({ sort: 'name', cursor: other }, 'id'),
      InvalidRequestError,
    );
  }
});

test('a cursor whose value the database cannot read is refused', async () => {
  await assert.rejects(
    answerPage(readPageRequest({}, 'id'), refusePosition, String),
    InvalidRequestError,
  );
});
