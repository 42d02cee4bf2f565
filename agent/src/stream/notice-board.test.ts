import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Notice } from '../notices.ts';
import { NoticeBoard } from './notice-board.ts';

const startMs = Date.parse('2026-11-21T12:00:00.000Z');
const at = (seconds: number): string => new Date(startMs + seconds * 1000).toISOString();

function full(subject: string, ratio: number): Notice {
  return { code: 'filesystem_full', severity: 'warning', subject, ratio };
}
const hot: Notice = { code: 'temperature_high', severity: 'error', subject: 'cpu', celsius: 101 };

/** Updates a board at a second. */
function update(board: NoticeBoard, seconds: number, ...present: readonly Notice[]) {
  return board.update(present, at(seconds), seconds * 1000);
}

test('announces a list at first, also an empty one, and again when it changes', () => {
  const board = new NoticeBoard();
  assert.equal(board.announced, null);
  assert.deepEqual(update(board, 0), { notices: [] });
  assert.equal(update(board, 1), null);
  assert.deepEqual(update(board, 2, full('/', 0.9)), {
    notices: [{ ...full('/', 0.9), since: at(2) }],
  });
  assert.equal(update(board, 3, full('/', 0.9)), null);
  const changed = { notices: [{ ...full('/', 0.91), since: at(2) }] };
  assert.deepEqual(update(board, 4, full('/', 0.91)), changed);
  assert.deepEqual(board.announced, changed);
  assert.deepEqual(update(board, 5), { notices: [] });
});

test('lists errors first, then the oldest', () => {
  const board = new NoticeBoard();
  update(board, 0, full('/b', 0.9));
  const list = update(board, 1, full('/a', 0.9), full('/b', 0.9), hot);
  assert.deepEqual(
    list?.notices.map(({ subject, since }) => [subject, since]),
    [
      ['cpu', at(1)],
      ['/b', at(0)],
      ['/a', at(1)],
    ],
  );
});

test('keeps the start of a problem over a pause without viewers', () => {
  const board = new NoticeBoard();
  update(board, 0, full('/', 0.9), hot);
  board.clear();
  assert.equal(board.announced, null);
  assert.deepEqual(
    update(board, 600, full('/', 0.95))?.notices.map(({ since }) => since),
    [at(0)],
  );
});

test('announces at most 4,500 bytes a minute, and the newest list once there is room', () => {
  const board = new NoticeBoard();
  let bytes = 0;
  for (let second = 0; second < 59; second += 1) {
    const list = update(board, second, { ...hot, celsius: 100 + second });
    if (list !== null) bytes += Buffer.byteLength(JSON.stringify(list));
  }
  assert.ok(bytes > 4_300 && bytes <= 4500, `${bytes} bytes`);
  const before = board.announced;
  assert.equal(update(board, 59, full('/', 0.9)), null);
  assert.equal(board.announced, before, 'a new viewer starts from what the others have');
  assert.equal(update(board, 60, full('/', 0.9))?.notices[0]?.subject, '/');
});

test('limits a list to a kilobyte, and cuts long subjects', () => {
  const board = new NoticeBoard();
  const many = Array.from({ length: 100 }, (_, index) => full(`/${index}${'x'.repeat(500)}`, 1));
  const list = update(board, 0, ...many);
  assert.ok(list !== null);
  const { notices, notices_omitted: omitted = 0 } = list;
  assert.ok(Buffer.byteLength(JSON.stringify(notices)) <= 1001);
  assert.equal(notices.length + omitted, 100);
  assert.ok(notices.length >= 4);
  assert.equal(notices[0]?.subject, `/0${'x'.repeat(77)}…`);
});
