import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { startTestService, type TestService } from '../harness.ts';
import { anyAddress, type Answer } from '../http-client.ts';
import { anyMachine } from '../license-steps.ts';
import { fromStart } from '../test-clock.ts';
import { problem, readBody } from './bodies.ts';

const small = await startTestService({ storageQuotaMib: 1 / 16 });
let isDiskLow = false;
const full = await startTestService({ isDiskLow: () => isDiskLow });

interface Store {
  readonly name: string;
  /** Sends a request that stores a new row for the address. */
  readonly send: (service: TestService, address: string) => Promise<Answer>;
}

function batchOf(text: string) {
  const props = Object.fromEntries(Array.from({ length: 32 }, (_, key) => [`key${key}`, text]));
  const event = { name: 'app_started', occurred_at: fromStart(0), props };
  const events = Array.from({ length: 50 }, () => ({ ...event, event_id: randomUUID() }));
  return { install_id: randomUUID(), session_id: randomUUID(), app_version: '1.0', events };
}

const STORES: readonly Store[] = [
  {
    name: 'events',
    send: (service, address) =>
      service.post('/api/v1/events', batchOf(randomBytes(100).toString('hex')), {
        'x-forwarded-for': address,
      }),
  },
  {
    name: 'compressed events',
    send: (service, address) =>
      service.send('POST', '/api/v1/events', {
        body: gzipSync(JSON.stringify(batchOf('x'.repeat(200)))),
        headers: {
          'x-forwarded-for': address,
          'content-encoding': 'gzip',
          'content-type': 'application/json',
        },
      }),
  },
  {
    name: 'trials',
    send: (service, address) =>
      service.post(
        '/api/v1/trial/start',
        { machine_fingerprint: anyMachine() },
        { 'x-forwarded-for': address },
      ),
  },
  {
    name: 'heartbeats',
    send: (service, address) => {
      const machine = anyMachine();
      const body = { machine_id: machine.machine_id, machine_fingerprint: machine };
      return service.post('/api/v1/usage/heartbeat', body, { 'x-forwarded-for': address });
    },
  },
];

describe('429', () => {
  for (const { name, send } of STORES) {
    test(`one address stores a limited amount of ${name} in a day, others are not affected`, async () => {
      const address = anyAddress();
      let answer = await send(small, address);
      for (let count = 0; answer.status === 200 && count < 1_000; count += 1) {
        answer = await send(small, address);
      }
      assert.deepEqual([answer.status, answer.body], [429, problem('rate_limited')]);
      const wait = Number(answer.headers.get('retry-after'));
      assert.ok(wait >= 1 && wait <= 86_400, `${wait} s`);
      assert.equal((await send(small, anyAddress())).status, 200);
      small.clock.advance(wait * 1_000);
      assert.equal((await send(small, address)).status, 200);
    });
  }

  test('heartbeats of known machines and repeated trial requests use no quota', async () => {
    const address = anyAddress();
    const machine = anyMachine();
    const headers = { 'x-forwarded-for': address };
    const heartbeat = { machine_id: machine.machine_id, machine_fingerprint: machine };
    for (let count = 0; count < 20; count += 1) {
      small.clock.advance(1_000);
      const trial = { machine_fingerprint: machine };
      assert.equal((await small.post('/api/v1/trial/start', trial, headers)).status, 200);
      assert.equal((await small.post('/api/v1/usage/heartbeat', heartbeat, headers)).status, 200);
    }
  });
});

describe('503', () => {
  test('events and heartbeats are refused while the disk is low; trials and health still succeed', async () => {
    isDiskLow = true;
    for (const { name, send } of STORES) {
      const answer = await send(full, anyAddress());
      if (name === 'trials') {
        assert.equal(answer.status, 200);
        continue;
      }
      assert.deepEqual([answer.status, answer.body], [503, problem('storage_low')], name);
      assert.equal(answer.headers.get('retry-after'), '60');
    }
    const health = readBody((await full.get('/api/v1/health')).body);
    assert.equal(health['status'], 'degraded');
    assert.equal((await full.get('/api/v1/health/ready')).status, 200);
    isDiskLow = false;
    for (const { send } of STORES) assert.equal((await send(full, anyAddress())).status, 200);
  });
});
