import assert from 'node:assert/strict';
import { test } from 'node:test';

import { exampleHost, exampleSnapshot } from '../../test/example-snapshot.ts';
import { readMessage } from './read-message.ts';

const hello = {
  type: 'hello',
  schema_version: 1,
  agent_version: '1.0.0',
  interval_seconds: 1,
  host: exampleHost,
  history: [],
};

const read = (value: object) => readMessage(JSON.stringify(value));

test('reads messages of this version with fields of later ones', () => {
  assert.deepEqual(read(hello), { kind: 'hello', hello });
  const later = { ...exampleSnapshot, moon: { phase: 1 } };
  const message = read({ type: 'snapshot', snapshot: later });
  assert.deepEqual(message, { kind: 'snapshot', snapshot: later });
});

test('replaces control characters in texts', () => {
  const message = read({ ...hello, host: { ...exampleHost, hostname: 'a\u001b[2J\u009bb' } });
  assert.ok(message?.kind === 'hello');
  assert.equal(message.hello.host.hostname, 'a·[2J·b');
});

test('returns null for anything else', () => {
  const memory = { ...exampleSnapshot.memory, total_bytes: '8' };
  const wrong: readonly object[] = [
    [],
    { ...hello, schema_version: 2 },
    { ...hello, host: null },
    { ...hello, history: [1] },
    { type: 'snapshot' },
    { type: 'snapshot', snapshot: { ...exampleSnapshot, time: 1 } },
    { type: 'snapshot', snapshot: { ...exampleSnapshot, memory } },
    { type: 'snapshot', snapshot: { ...exampleSnapshot, disks: {} } },
    { type: 'snapshot', snapshot: { ...exampleSnapshot, units: { failed: Array(5000).fill('') } } },
  ];
  assert.deepEqual(
    wrong.map(read),
    wrong.map(() => null),
  );
  const texts = ['', 'null', 'hello', '[', `${'['.repeat(500_000)}${']'.repeat(500_000)}`];
  assert.deepEqual(
    texts.map(readMessage),
    texts.map(() => null),
  );
  const endless = JSON.stringify({ type: 'snapshot', snapshot: { time: 'x', uptime_seconds: 1 } });
  assert.equal(readMessage(endless.replace(':1}', ':1e999}')), null);
});
