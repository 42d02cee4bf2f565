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
  const others = [second, first, third];
  assert.deepEqual(listSurplus(others, 5), []);
  assert.deepEqual(listSurplus(others, 4), []);
  assert.deepEqual(listSurplus(others, 3), [first.name]);
  assert.deepEqual(listSurplus(others, 2), [second.name, first.name]);
});

test('keeps only the new backup with 1', () => {
  assert.deepEqual(listSurplus([first, second], 1), [second.name, first.name]);
  assert.deepEqual(listSurplus([], 1), []);
});

test('keeps the one with the later name of two backups of one moment', () => {
  const twins = [at('2026-11-28T03:00:00Z', 'b'), at('2026-11-28T03:00:00Z', 'c')];
  assert.deepEqual(listSurplus(twins, 2), ['b']);
  assert.deepEqual(listSurplus(twins.toReversed(), 2), ['b']);
});

test('never removes a backup that is newer than one that it keeps', () => {
  const time = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true });
  const stored = fc.uniqueArray(fc.record({ name: fc.string({ minLength: 1 }), createdAt: time }), {
    selector: ({ name }) => name,
  });
  fc.assert(
    fc.property(stored, fc.integer({ min: 1, max: 20 }), (others, keep) => {
      const surplus = new Set(listSurplus(others, keep));
      const kept = others.filter(({ name }) => !surplus.has(name));
      assert.equal(kept.length, Math.min(others.length, keep - 1));
      const oldestKept = Math.min(...kept.map(({ createdAt }) => createdAt.getTime()));
      const removed = others.filter(({ name }) => surplus.has(name));
      assert.ok(removed.every(({ createdAt }) => createdAt.getTime() <= oldestKept));
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
