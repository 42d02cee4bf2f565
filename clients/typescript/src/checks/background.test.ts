import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { OK, type NoAnswer, type Result } from '../answers/results.ts';
import { Background } from './background.ts';

const MINUTE = 60_000;
const UNANSWERED: NoAnswer = { ok: false, code: 'no_answer', cause: 'dns', retryAfterMs: 0 };

/** Lets what runs come to its end. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A background with a clock of its own, whose checks have the result that a test sets. */
function createBackground(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const world = {
    nowMs: 0,
    result: OK as Result,
    network: 'home',
    isUnread: false,
    triggers: [] as string[],
    flushes: 0,
  };
  const background = new Background({
    check: async (trigger) => {
      world.triggers.push(trigger);
      return world.result;
    },
    flush: async () => {
      world.flushes += 1;
      return world.result;
    },
    notify: () => undefined,
    isUnread: () => world.isUnread,
    now: () => world.nowMs,
    random: () => 0.5,
    network: () => world.network,
  });
  t.after(() => background.stop());
  /** Lets minutes pass, with a tick each. */
  const pass = async (minutes: number): Promise<void> => {
    await settle();
    for (let minute = 0; minute < minutes; minute += 1) {
      world.nowMs += MINUTE;
      t.mock.timers.tick(MINUTE);
      await settle();
    }
  };
  const take = (): string[] => world.triggers.splice(0);
  return { background, world, pass, take };
}

test('checks at the start, and daily', async (t) => {
  const { background, pass, take } = createBackground(t);
  background.start();
  background.start();
  assert.deepEqual(take(), ['startup']);
  await pass(1439);
  assert.deepEqual(take(), []);
  await pass(1);
  assert.deepEqual(take(), ['scheduled']);
});

test('tries again after 1, 5, 15 and 60 minutes without an answer', async (t) => {
  const { background, world, pass, take } = createBackground(t);
  world.result = UNANSWERED;
  background.start();
  take();
  for (const minutes of [1, 5, 15, 60, 60]) {
    await pass(minutes - 1);
    assert.deepEqual(take(), []);
    await pass(1);
    assert.deepEqual(take(), ['scheduled']);
  }
});

test('checks as soon as after no answer while the license cannot be read', async (t) => {
  const { background, world, pass, take } = createBackground(t);
  world.result = { ok: false, code: 'folder_unreadable' };
  world.isUnread = true;
  background.start();
  await pass(1);
  assert.deepEqual(take(), ['startup', 'scheduled']);
  world.result = OK;
  await pass(5);
  assert.deepEqual(take(), ['scheduled'], 'a trial runs, and a license may be in the file');
  world.isUnread = false;
  await pass(15);
  assert.deepEqual(take(), ['scheduled']);
  await pass(1439);
  assert.deepEqual(take(), []);
});

test('checks after sleep', async (t) => {
  const { background, world, pass, take } = createBackground(t);
  background.start();
  take();
  world.nowMs += 4 * MINUTE;
  await pass(1);
  assert.deepEqual(take(), [], 'five minutes are no sleep');
  world.nowMs += 5 * MINUTE;
  await pass(1);
  assert.deepEqual(take(), ['wake']);
});

test('checks when another network is there, if the last question was not answered', async (t) => {
  const { background, world, pass, take } = createBackground(t);
  background.start();
  world.network = 'train';
  await pass(1);
  assert.deepEqual(take(), ['startup']);
  world.result = UNANSWERED;
  background.noticeNetwork();
  await pass(1);
  take();
  world.network = 'office';
  await pass(1);
  assert.equal(take()[0], 'reconnect');
});

test('checks a minute after a call of the program without an answer, and when another network is there', async (t) => {
  const { background, world, pass, take } = createBackground(t);
  background.start();
  await pass(1);
  take();
  background.noticeFailure(UNANSWERED);
  await pass(1);
  assert.deepEqual(take(), ['scheduled']);
  await pass(600);
  assert.deepEqual(take(), [], 'the check was answered');
  background.noticeFailure({ ...UNANSWERED, retryAfterMs: 10 * MINUTE });
  await pass(9);
  assert.deepEqual(take(), [], 'the service asked to wait');
  world.network = 'office';
  await pass(1);
  assert.equal(take()[0], 'reconnect');
});

test('a call without an answer during a check does not bring the next one forward', async (t) => {
  const { background, world, pass, take } = createBackground(t);
  world.result = UNANSWERED;
  background.start();
  background.noticeFailure(UNANSWERED);
  await pass(1);
  await pass(4);
  assert.deepEqual(take(), ['startup', 'scheduled']);
});

test('checks at the front, once a minute at most, and only after its start', async (t) => {
  const { background, world, take } = createBackground(t);
  background.noticeFocus();
  background.start();
  take();
  background.noticeFocus();
  world.nowMs += MINUTE - 1;
  background.noticeFocus();
  assert.deepEqual(take(), ['foreground']);
  world.nowMs += 1;
  background.noticeFocus();
  assert.deepEqual(take(), ['foreground']);
});

test('checks when the clock is set back, and a day later', async (t) => {
  const { background, world, pass, take } = createBackground(t);
  background.start();
  take();
  await pass(700);
  world.nowMs -= 10_000 * MINUTE;
  await pass(1);
  assert.deepEqual(take(), ['wake']);
  await pass(1440);
  assert.deepEqual(take(), ['scheduled']);
});

test('sends events each minute, and less often without an answer', async (t) => {
  const { background, world, pass } = createBackground(t);
  background.start();
  await pass(3);
  assert.equal(world.flushes, 4);
  world.result = UNANSWERED;
  await pass(7);
  assert.equal(world.flushes, 4 + 3, 'at once, after one minute and after five');
});

test('does nothing after its end', async (t) => {
  const { background, pass, take } = createBackground(t);
  background.start();
  background.stop();
  take();
  await pass(1500);
  assert.deepEqual(take(), []);
});
