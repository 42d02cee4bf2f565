import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { MAX_LISTED_MACHINES, readListFragment, writeListFragment } from './list-fragment.ts';
import type { ListedMachine } from './types.ts';

const database: ListedMachine = {
  id: 'db-1.example.com:4096',
  name: 'Database 1',
  address: 'db-1.example.com:4096',
  labels: ['prod', 'db; main'],
};
const plain: ListedMachine = {
  id: '[2001:db8::7]:8443',
  name: '[2001:db8::7]',
  address: '[2001:db8::7]:8443',
  labels: [],
};

test('writes a list that a person can read, and reads it again', () => {
  const fragment = writeListFragment([database, plain]);
  assert.equal(
    fragment,
    '#m=db-1.example.com;Database%201;prod;db%3B%20main&m=%5B2001:db8::7%5D:8443',
  );
  assert.deepEqual(readListFragment(fragment), { machines: [database, plain], ignored: 0 });
  assert.deepEqual(readListFragment(''), { machines: [], ignored: 0 });
  assert.equal(writeListFragment([]), '');
});

test('keeps the path of a proxy', () => {
  const { machines } = readListFragment('#m=db-1.example.com/latchkey;Database');
  assert.deepEqual(machines, [
    {
      id: 'db-1.example.com:443/latchkey',
      name: 'Database',
      address: 'db-1.example.com:443/latchkey',
      labels: [],
    },
  ]);
  assert.equal(writeListFragment(machines), '#m=db-1.example.com/latchkey;Database');
});

test('ignores what is invalid, and keeps the rest', () => {
  const { machines, ignored } = readListFragment(
    '#m=&m=https://evil/&m=%E0%A4%A&m=user@db&theme=dark&m=db-2;%E0%A4%A;ok;ok;;&m=DB-2:4096;again',
  );
  assert.equal(ignored, 5);
  assert.deepEqual(machines, [
    { id: 'db-2:4096', name: 'db-2', address: 'db-2:4096', labels: ['ok'] },
  ]);
});

test('limits machines, names, labels and the whole fragment', () => {
  const many = Array.from({ length: MAX_LISTED_MACHINES + 5 }, (_, at) => `m=m${at}`).join('&');
  const list = readListFragment(many);
  assert.deepEqual([list.machines.length, list.ignored], [MAX_LISTED_MACHINES, 5]);
  assert.deepEqual(readListFragment(`m=db&${'x'.repeat(200_000)}`), { machines: [], ignored: 1 });
  const labels = Array.from({ length: 20 }, (_, at) => `${at}${'l'.repeat(100)}`).join(';');
  const [machine] = readListFragment(`m=db;${'n'.repeat(101)};${labels}`).machines;
  assert.equal(machine?.name.length, 100);
  assert.deepEqual([machine?.labels.length, machine?.labels[0]?.length], [10, 60]);
});

test('removes characters that would let a name imitate another', () => {
  const [machine] = readListFragment(`m=db;${encodeURIComponent('a\u202Eb\u0000c\n')}`).machines;
  assert.equal(machine?.name, 'abc');
});

test('reads what it writes, whatever the names and labels', () => {
  const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(word, fc.uniqueArray(word, { maxLength: 10 }), (name, labels) => {
      const listed = readListFragment(writeListFragment([{ ...database, name, labels }])).machines;
      const written = writeListFragment(listed);
      assert.deepEqual(readListFragment(written), { machines: listed, ignored: 0 });
      assert.equal(listed[0]?.address, database.address);
      assert.ok(listed[0].labels.length <= labels.length);
    }),
  );
});
