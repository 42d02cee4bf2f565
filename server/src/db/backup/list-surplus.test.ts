import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { isBackupName, nameBackup, writerOf } from './backup-name.ts';
import { listSurplus, type StoredBackup } from './list-surplus.ts';

const at = (iso: string, name = nameBackup(new Date(iso))): StoredBackup => ({
  name,
  createdAt: new Date(iso),
});

const [first, second, third] = [
  at('2026-11-26T03:00:00Z'),
  at('2026-11-27T03:00:00Z'),
  at('2026-11-28T03:00:00Z'),
];

test('keeps the newest backups by their time, in whatever order they are listed', () => {
  const others = [second, first];
  assert.deepEqual(listSurplus(third, others, 4), []);
  assert.deepEqual(listSurplus(third, others, 3), []);
  assert.deepEqual(listSurplus(third, others, 2), [first.name]);
  assert.deepEqual(listSurplus(third, others, 1), [second.name, first.name]);
  assert.deepEqual(listSurplus(third, [], 1), []);
});

test('keeps the new backup when others look newer, and removes none of the newest for it', () => {
  assert.deepEqual(listSurplus(first, [second, third], 2), []);
  assert.deepEqual(listSurplus(first, [second, third], 1), [second.name]);
});

test('keeps the one with the later name of two backups of one moment', () => {
  const twins = [at('2026-11-28T03:00:00Z', 'b'), at('2026-11-28T03:00:00Z', 'c')] as const;
  const [earlier, later] = twins;
  assert.deepEqual(listSurplus(first, twins, 1), ['b']);
  assert.deepEqual(listSurplus(first, twins.toReversed(), 1), ['b']);
  assert.deepEqual(listSurplus(later, [earlier], 1), ['b']);
  assert.deepEqual(listSurplus(earlier, [later], 1), []);
});

test('keeps as many of the newest as it should, and the new one', () => {
  const time = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true });
  const stored = fc.uniqueArray(fc.record({ name: fc.string({ minLength: 1 }), createdAt: time }), {
    selector: ({ name }) => name,
    minLength: 1,
  });
  fc.assert(
    fc.property(stored, fc.integer({ min: 1, max: 20 }), (all, keep) => {
      const [written = first, ...others] = all;
      const surplus = new Set(listSurplus(written, others, keep));
      const kept = all.filter(({ name }) => !surplus.has(name));
      assert.ok(kept.includes(written));
      const keptOthers = kept.filter((each) => each !== written);
      assert.ok([keep - 1, keep].includes(keptOthers.length) || kept.length === all.length);
      const oldestKept = Math.min(...keptOthers.map(({ createdAt }) => createdAt.getTime()));
      const removed = others.filter(({ name }) => surplus.has(name));
      assert.ok(removed.every(({ createdAt }) => createdAt.getTime() <= oldestKept));
      // Whoever of two commands ends last, the newest backup remains.
      const newest = all.toSorted(
        (one, other) => Number(other.createdAt) - Number(one.createdAt),
      )[0];
      assert.ok(kept.some(({ createdAt }) => Number(createdAt) === Number(newest?.createdAt)));
    }),
  );
});

test('recognizes the names that it chooses, and no others', () => {
  const name = nameBackup(new Date('2026-11-28T01:02:03.999Z'));
  assert.equal(name, 'latchkey-2026-11-28T01-02-03Z.zst');
  assert.equal(isBackupName(name), true);
  assert.equal(writerOf(`.${name}.123.partial`), 123);
  const others = [
    '2026-11-28.zst',
    'before-upgrade.zst',
    `${name}.gpg`,
    `.${name}`,
    `old-${name}`,
    'latchkey-2026-11-28.zst',
    'latchkey-2026-11-28T01-02-03Z.zst\n',
  ];
  assert.deepEqual(others.filter(isBackupName), []);
  const unfinished = ['.before-upgrade.zst.123.partial', name, `.${name}.x.partial`];
  assert.deepEqual(unfinished.map(writerOf), [null, null, null]);
});
