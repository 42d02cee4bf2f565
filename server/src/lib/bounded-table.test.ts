import assert from 'node:assert/strict';
import { test } from 'node:test';

import { BoundedTable } from './bounded-table.ts';

const LIMIT_BYTES = 64 * 1_048_576;
/** In characters, with the name of the client; 256 bytes for the entry, and 2 for each character, are 65,536. */
const ENTRY_BYTES = 65_536;
const MOST = LIMIT_BYTES / ENTRY_BYTES;

/** Adds entries of 64 KiB each. */
function addLarge(table: BoundedTable<string>, kind: string, count: number): void {
  for (let index = 0; index < count; index++) {
    const client = String(index).padStart(6, '0');
    table.set(kind, client, 'v'.repeat((ENTRY_BYTES - 256) / 2 - client.length));
  }
}

function countOf(table: BoundedTable<string>, kind: string, count: number): number {
  const clients = Array.from({ length: count }, (_, index) => String(index).padStart(6, '0'));
  return clients.filter((client) => table.get(kind, client) !== null).length;
}

test('BoundedTable keeps at most 64 MiB, the latest of a kind', () => {
  const table = new BoundedTable<string>();
  addLarge(table, 'one', MOST + 3);
  assert.equal(countOf(table, 'one', MOST + 3), MOST);
  assert.equal(table.get('one', '000002'), null);
  assert.notEqual(table.get('one', '000003'), null);
});

test('BoundedTable evicts from the largest kind, whichever grows', () => {
  const table = new BoundedTable<string>();
  addLarge(table, 'large', MOST);
  addLarge(table, 'small', 10);
  assert.deepEqual([countOf(table, 'large', MOST), countOf(table, 'small', 10)], [MOST - 10, 10]);
});

test('BoundedTable has room again after removals and replacements', () => {
  const table = new BoundedTable<string>();
  addLarge(table, 'one', MOST);
  table.set('one', '000000', null);
  table.set('one', '000001', 'short');
  table.set('two', 'client', 'v'.repeat((ENTRY_BYTES - 256) / 2));
  assert.equal(countOf(table, 'one', MOST), MOST - 1);
});

test('BoundedTable keeps at most 50,000 clients of a kind', () => {
  const table = new BoundedTable<string>();
  for (let index = 0; index <= 50_000; index++) table.set('one', `${index}`, '1');
  assert.deepEqual([table.get('one', '0'), table.get('one', '1')], [null, '1']);
});

test('BoundedTable keeps at most 32 kinds', () => {
  const table = new BoundedTable<string>();
  for (let index = 0; index < 32; index++) table.set(`${index}`, 'client', '1');
  assert.throws(
    () => table.set('one more', 'client', '1'),
    new Error('more than 32 kinds of counters'),
  );
});
