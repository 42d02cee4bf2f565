import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findNamePrefix, groupMachines, type GroupBy, suggestGroupBy } from './grouping.ts';
import { arrangeFleet } from './model.ts';
import { createFakeFleet } from '../core/fake-fleet.fixture.ts';

function listOf(...names: readonly string[]) {
  return names.map((text) => {
    const [name = '', ...labels] = text.split(' ');
    return { listed: { name, labels } };
  });
}

function group(by: GroupBy, ...names: readonly string[]): string[] {
  return groupMachines(listOf(...names), by).map(
    ({ title, items }) => `${title}: ${items.map(({ listed }) => listed.name).join(' ')}`,
  );
}

test('groups by the first label, machines without one last', () => {
  assert.deepEqual(group('label', 'a', 'b web eu', 'c db', 'd web'), [
    'db: c',
    'web: b d',
    'Without label: a',
  ]);
});

test('groups by the name before its number, and joins machines that are alone', () => {
  assert.deepEqual(group('name', 'web-10', 'web-9', 'gate', 'db-2', 'db-1', 'mail.example.com'), [
    'db: db-1 db-2',
    'web: web-9 web-10',
    'Others: gate mail.example.com',
  ]);
});

test('finds the prefix of a name', () => {
  const names = ['web-12.example.com', 'db_eu_3', 'build-arm', 'node7', 'gate', '10.0.3.17', '42'];
  assert.deepEqual(names.map(findNamePrefix), [
    'web',
    'db_eu',
    'build',
    'node',
    'gate',
    '10.0.3',
    '',
  ]);
});

test('suggests labels where there are any', () => {
  assert.equal(suggestGroupBy(listOf('a', 'b web')), 'label');
  assert.equal(suggestGroupBy(listOf('a', 'b')), 'none');
});

const choice = { groupBy: 'label', nowMs: 0, origin: 'https://fleet.test' } as const;

test('searches names, labels and problems, and counts all machines nevertheless', () => {
  const { machines } = createFakeFleet(100);
  const find = (search: string) => arrangeFleet(machines, { ...choice, search });
  assert.deepEqual(
    find('/var full').troubled.map(({ machine }) => machine.listed.name),
    ['db-037'],
  );
  const { calm, troubled, counts } = find('  OSLO Web-0 ');
  const names = [
    ...calm.flatMap(({ items }) => items.map(({ listed }) => listed.name)),
    ...troubled.map(({ machine }) => machine.listed.name),
  ];
  assert.ok(names.length > 0 && names.every((name) => name.startsWith('web-0')));
  assert.deepEqual(counts, { calm: 78, problem: 20, unknown: 2 });
  assert.equal(find('no such machine').figure.length, 0);
});

test('shows every machine once in the lists, and once in the figure', () => {
  const { machines } = createFakeFleet(100);
  const { calm, troubled, figure } = arrangeFleet(machines, { ...choice, search: '' });
  const listed = calm.flatMap(({ items }) => items).length + troubled.length;
  assert.equal(listed, 100);
  const tones = figure.flatMap(({ items }) => items.map(({ tone }) => tone));
  assert.equal(tones.length, 100);
  assert.equal(tones.filter((tone) => tone !== 'calm').length, 20);
});
