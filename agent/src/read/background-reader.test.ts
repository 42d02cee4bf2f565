import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { test } from 'node:test';

import { emptyMachine } from '../../test/machine.ts';
import { until } from '../../test/until.ts';

import { BackgroundReader } from './background-reader.ts';

/** Files that answer only when the test says so, and a clock that the test moves. */
function openFakeReader() {
  const clock = { ms: 0 };
  const started: string[] = [];
  const pending = new Map<string, (text: string | null) => void>();
  const closed: string[] = [];
  const reader = new BackgroundReader(
    () => clock.ms,
    (path) => ({
      read(done) {
        started.push(path);
        pending.set(path, done);
      },
      close: () => void closed.push(path),
    }),
  );
  const answer = (path: string, text: string | null) => pending.get(path)?.(text);
  return { clock, started, closed, answer, reader };
}

test('what was read last is told, also while it is read again', () => {
  const { answer, reader } = openFakeReader();
  reader.refresh(['a']);
  assert.equal(reader.textOf('a'), null);
  answer('a', '41000');
  assert.equal(reader.textOf('a'), '41000');
  reader.refresh(['a']);
  assert.equal(reader.textOf('a'), '41000');
  answer('a', null);
  assert.equal(reader.textOf('a'), null);
});

test('at most two are read at once, and the rest in turn', () => {
  const { started, answer, reader } = openFakeReader();
  reader.refresh(['a', 'b', 'c']);
  assert.deepEqual(started, ['a', 'b']);
  answer('b', '1');
  assert.deepEqual(started, ['a', 'b', 'c']);
});

test('a file that hangs is given up after two seconds, and the others are read on', () => {
  const { clock, started, answer, reader } = openFakeReader();
  reader.refresh(['hangs', 'b', 'c']);
  answer('b', '1');
  answer('c', '1');
  clock.ms = 2_001;
  reader.refresh(['hangs', 'b', 'c']);
  answer('b', '2');
  answer('c', '2');
  assert.deepEqual(started, ['hangs', 'b', 'c', 'b', 'c']);
  assert.deepEqual(
    [reader.textOf('hangs'), reader.textOf('b'), reader.textOf('c')],
    [null, '2', '2'],
  );
  assert.equal(reader.isStuck(), true);
});

test('a file that took too long is suspended for a minute once it has answered', () => {
  const { clock, started, answer, reader } = openFakeReader();
  reader.refresh(['slow']);
  clock.ms = 22_000;
  answer('slow', '20000');
  assert.equal(reader.textOf('slow'), '20000');
  clock.ms = 81_999;
  reader.refresh(['slow']);
  assert.deepEqual(started, ['slow']);
  clock.ms = 82_000;
  reader.refresh(['slow']);
  assert.deepEqual(started, ['slow', 'slow']);
});

test('when two hang nothing more is begun, however often it is asked', () => {
  const { clock, started, reader } = openFakeReader();
  for (let round = 0; round < 100; round += 1) {
    clock.ms += 2_000;
    reader.refresh(['a', 'b', 'c']);
  }
  assert.deepEqual(started, ['a', 'b']);
});

test('what is forgotten is closed and not read any more', () => {
  const { started, closed, answer, reader } = openFakeReader();
  reader.refresh(['a', 'b', 'c']);
  reader.forget(['a', 'c']);
  answer('a', '1');
  assert.deepEqual(started, ['a', 'b']);
  assert.deepEqual(closed, ['a', 'c']);
  assert.equal(reader.textOf('a'), null);
});

test('what was read before a time in which nobody asked is not told as if it were of now', () => {
  const { clock, answer, reader } = openFakeReader();
  reader.refresh(['a']);
  answer('a', '41000');
  clock.ms = 300_000;
  assert.equal(reader.textOf('a'), '41000');
  clock.ms = 7_200_000;
  reader.refresh(['a']);
  assert.equal(reader.textOf('a'), null);
  answer('a', '58000');
  assert.equal(reader.textOf('a'), '58000');
});

test('files that cannot be opened, for whatever reason, hold up no other', async () => {
  using machine = emptyMachine();
  machine.write('sys/good', '1\n');
  const pathOf = (name: string) => `${machine.roots.sys}/${name}`;
  const loops = ['a', 'b', 'c'].map(pathOf);
  for (const loop of loops) symlinkSync(loop, loop);
  const reader = new BackgroundReader(() => 0);
  reader.refresh([...loops, pathOf('good')]);
  await until(() => !reader.isStuck());
  assert.equal(reader.textOf(pathOf('good')), '1');
  reader.close();
});

test('real files are read anew each time, and one that is gone gives nothing', async () => {
  using machine = emptyMachine();
  machine.write('sys/a', '1\n');
  const path = `${machine.roots.sys}/a`;
  const reader = new BackgroundReader(() => 0);
  const read = async (): Promise<string | null> => {
    reader.refresh([path, `${path}-missing`]);
    await until(() => !reader.isStuck());
    return reader.textOf(path);
  };
  assert.equal(await read(), '1');
  machine.write('sys/a', '22\n');
  assert.equal(await read(), '22');
  assert.equal(reader.textOf(`${path}-missing`), null);
  reader.close();
});
