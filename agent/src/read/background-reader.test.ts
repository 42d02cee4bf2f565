import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { test } from 'node:test';

import { emptyMachine } from '../../test/machine.ts';
import { until } from '../../test/wait.ts';

import { BackgroundReader } from './background-reader.ts';

/** Opens a reader with files that the test answers for, and a clock that the test sets. */
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

test('returns the last content while a file is read again', () => {
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

test('reads at most two files at once', () => {
  const { started, answer, reader } = openFakeReader();
  reader.refresh(['a', 'b', 'c']);
  assert.deepEqual(started, ['a', 'b']);
  answer('b', '1');
  assert.deepEqual(started, ['a', 'b', 'c']);
});

test('returns null for a file that hangs for two seconds, and reads the others', () => {
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

test('suspends a slow file for a minute after its answer', () => {
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

test('starts no more reads while two hang', () => {
  const { clock, started, reader } = openFakeReader();
  for (let round = 0; round < 100; round += 1) {
    clock.ms += 2_000;
    reader.refresh(['a', 'b', 'c']);
  }
  assert.deepEqual(started, ['a', 'b']);
});

test('closes the files of a list, and does not read them again', () => {
  const { started, closed, answer, reader } = openFakeReader();
  reader.refresh(['a', 'b', 'c']);
  reader.closeFiles(['a', 'c']);
  answer('a', '1');
  assert.deepEqual(started, ['a', 'b']);
  assert.deepEqual(closed, ['a', 'c']);
  assert.equal(reader.textOf('a'), null);
});

test('drops content that was read before a pause', () => {
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

test('continues when files cannot be opened', async () => {
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

test('reads real files again each time, and returns null for a missing one', async () => {
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
