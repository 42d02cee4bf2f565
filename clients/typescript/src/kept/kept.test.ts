import assert from 'node:assert/strict';
import { test } from 'node:test';

import { SIGNER } from '../../test/signer.ts';
import { formatKept, NOTHING_KEPT, parseKept } from './kept.ts';
import { memoryStore, webStore } from './store.ts';

const FILE = {
  version: 1,
  key: 'LK-1',
  activation_id: 'a',
  entitlement: 'e.e.e',
  keys: [SIGNER.publicKey],
  refused: { reason: 'license_revoked', at: '2027-01-15T08:00:00.000Z' },
  clock: { offset_ms: -5, latest_ms: 7 },
  machine: { machine_id: 'm', macs: ['a', 'b'] },
  install_id: 'i',
  sharing: false,
  release: { key: 'LK-1', activation_id: 'a', machine_id: 'm' },
  request: { nonce: 'n', created_at: '2027-01-15T08:00:00.000Z' },
  trial_wanted: true,
  last_answer_at: '2027-01-15T08:00:00.000Z',
};

function rewrite(file: unknown): unknown {
  const kept = parseKept(JSON.stringify(file));
  return kept === null ? null : JSON.parse(formatKept(kept));
}

test('writes what it reads, and the fields of other versions', () => {
  const file = { ...FILE, seats: { of: 'another version' } };
  assert.deepEqual(rewrite(file), file);
});

test('writes nothing but null for what is not there', () => {
  const { version, ...fields } = JSON.parse(formatKept(NOTHING_KEPT));
  assert.equal(version, 1);
  assert.deepEqual(
    Object.keys(fields).sort(),
    Object.keys(FILE)
      .filter((each) => each !== 'version')
      .sort(),
  );
  assert.deepEqual(fields.clock, { offset_ms: 0, latest_ms: 0 });
});

test('ignores fields of another type', () => {
  const damaged = Object.fromEntries(Object.keys(FILE).map((name) => [name, 1]));
  assert.deepEqual(rewrite(damaged), JSON.parse(formatKept(NOTHING_KEPT)));
});

test('is damaged if it is no JSON object', () => {
  for (const text of ['', '{"version":1', '[]', 'null', '\0\0\0'])
    assert.equal(parseKept(text), null);
});

test('a store in memory keeps a text, and loses one that is set aside', async () => {
  const store = memoryStore();
  assert.equal(await store.read(), null);
  await store.write('a');
  assert.equal(await store.read(), 'a');
  await store.setAside();
  assert.equal(await store.read(), null);
});

test('a store in a page keeps a damaged text beside', async () => {
  const items = new Map<string, string>();
  const storage = {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, text: string) => void items.set(name, text),
    removeItem: (name: string) => void items.delete(name),
  };
  const store = webStore(storage, 'app');
  await store.write('a');
  await store.setAside();
  assert.equal(await store.read(), null);
  assert.deepEqual([...items], [['app.damaged', 'a']]);
});
