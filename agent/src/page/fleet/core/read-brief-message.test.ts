import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import { FakeAgent } from './fake-network.fixture.ts';
import {
  isFields,
  parseBriefMessage,
  readBriefHello,
  readBriefNotices,
} from './read-brief-message.ts';

const hello = { ...new FakeAgent().hello([[0, 0.5]]) };

test('reads a hello', () => {
  const message = parseBriefMessage(JSON.stringify(hello));
  assert.deepEqual(message === null ? null : readBriefHello(message), {
    agentVersion: '1.0.0',
    agentStartedAtMs: Date.parse('2026-11-21T00:00:00Z'),
    intervalSeconds: 1,
    machineId: '0123456789abcdef0123456789abcdef',
    host: {
      hostname: 'db-1',
      architecture: 'x64',
      machine_type: 'virtual',
      boot_time: '2026-11-20T00:00:00.000Z',
    },
    times: [0],
    columns: { time: ['1970-01-01T00:00:00.000Z'], load_1m: [0.5] },
  });
});

describe('a message that is none of the protocol', () => {
  const texts = ['', 'hello', '[]', 'null', '7', '{"type":', `"${'x'.repeat(400_000)}"`];
  for (const text of texts) {
    test(`is ignored: ${text.slice(0, 20)}`, () => assert.equal(parseBriefMessage(text), null));
  }

  test('is ignored when binary or too long', () => {
    assert.equal(parseBriefMessage(new ArrayBuffer(8)), null);
    assert.equal(parseBriefMessage(JSON.stringify({ ...hello, x: 'x'.repeat(300_000) })), null);
  });

  test('is no hello without host, or of another version or type', () => {
    for (const change of [{ host: null }, { schema_version: 2 }, { type: 'welcome' }]) {
      assert.equal(readBriefHello({ ...hello, ...change }), null);
    }
  });
});

test('ignores unknown fields, and replaces invalid ones', () => {
  const read = readBriefHello({
    ...hello,
    color: 'red',
    agent_version: 7,
    agent_started_at: 'today',
    interval_seconds: 1e9,
    machine_id: '../../etc',
    host: { hostname: 'h'.repeat(1000), machine_type: 'toaster', cpu_logical_count: '4', a: {} },
    history: [],
  });
  assert.deepEqual(read, {
    agentVersion: '',
    agentStartedAtMs: Number.NaN,
    intervalSeconds: 60,
    machineId: null,
    host: { hostname: 'h'.repeat(200), architecture: '', machine_type: 'physical' },
    times: [],
    columns: {},
  });
});

test('reads known notices only, at most fifty', () => {
  const since = '2026-11-21T12:00:00Z';
  const full = {
    code: 'filesystem_full',
    severity: 'warning',
    since,
    subject: '/var',
    ratio: 0.93,
  };
  const notices = [
    { ...full, advice: 'delete something' },
    { ...full, code: 'disk_on_fire' },
    { ...full, code: 'toString' },
    { ...full, severity: 'fatal' },
    { ...full, since: 'yesterday' },
    { ...full, ratio: '0.93', subject: 7 },
    null,
    'full',
  ];
  const { code, severity } = full;
  assert.deepEqual(readBriefNotices({ notices, notices_omitted: 2 }), {
    notices: [full, { code, severity, since }],
    omitted: 2,
  });
  assert.equal(
    readBriefNotices({ notices: Array.from({ length: 100 }, () => full) })?.notices.length,
    50,
  );
  assert.equal(readBriefNotices({}), null);
  assert.equal(readBriefNotices({ notices: 'none' }), null);
});

test('throws for no input', () => {
  fc.assert(
    fc.property(fc.object({ maxDepth: 3 }), fc.string(), (fields, text) => {
      parseBriefMessage(text);
      const message = { ...hello, ...fields };
      for (const each of [
        message,
        { ...hello, host: fields, history: fields, notices: [fields] },
      ]) {
        readBriefHello(each);
        readBriefNotices(each);
      }
      assert.ok(isFields(message));
    }),
  );
});
