import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { createExternalHome, type ExternalHome } from '../external-service.ts';
import { anyMachine, anyUnknownKey } from '../license-steps.ts';
import type { ServiceProcess } from '../service-process.ts';
import { waitForBothWorkers } from './both-workers.ts';
import { lacksWorkers } from './lacks-workers.ts';
import { postOverNewConnection } from './new-connection.ts';

let external: ExternalHome;
let service: ServiceProcess;

/** Sends a request, the next one to the other worker, and returns its status. */
async function post(path: string, body: object, from: string): Promise<number> {
  return postOverNewConnection(`${service.url}${path}`, body, { 'x-forwarded-for': from });
}

async function postTimes(times: number, path: string, body: () => object, from: string) {
  const statuses: number[] = [];
  for (let count = 0; count < times; count++) statuses.push(await post(path, body(), from));
  return statuses;
}

function guess(): object {
  return { license_key: anyUnknownKey(), machine_fingerprint: anyMachine() };
}

function subscribe(): object {
  return { email: `${crypto.randomUUID()}@example.com` };
}

function repeat(status: number, times: number): number[] {
  return Array.from({ length: times }, () => status);
}

describe('two workers count once', { skip: lacksWorkers }, () => {
  before(async () => {
    external = await createExternalHome();
    const settings = { LATCHKEY_SUBSCRIBE_RATE: '1/3', LATCHKEY_EVENTS_RATE: '1/5' };
    service = await external.start(settings, ['--workers', '2']);
    await waitForBothWorkers(service);
  });
  after(() => external[Symbol.asyncDispose]());

  test('failed look-ups of an address', async () => {
    const statuses = await postTimes(13, '/api/v1/licenses/activate', guess, '203.0.113.1');
    assert.deepEqual(statuses, [...repeat(404, 10), ...repeat(429, 3)]);
  });

  test('concurrent failed look-ups of an address', async () => {
    const guesses = Array.from({ length: 40 }, () =>
      post('/api/v1/licenses/activate', guess(), '203.0.113.2'),
    );
    const statuses = (await Promise.all(guesses)).sort((a, b) => a - b);
    assert.deepEqual(statuses, [...repeat(404, 10), ...repeat(429, 30)]);
  });

  test('failed sign-ins of an account, from any network', async () => {
    const body = { email: 'ann@example.com', password: 'a wrong password' };
    const statuses: number[] = [];
    for (let network = 0; network < 12; network++) {
      statuses.push(await post('/api/v1/admin/session', body, `203.0.${network}.3`));
    }
    assert.deepEqual(statuses, [...repeat(401, 10), ...repeat(429, 2)]);
  });

  test('subscriptions of a network', async () => {
    const statuses = await postTimes(5, '/api/v1/subscribers', subscribe, '203.0.113.4');
    assert.deepEqual(statuses, [201, 201, 201, 429, 429]);
  });

  test('concurrent subscriptions of a network', async () => {
    const subscriptions = Array.from({ length: 60 }, () =>
      post('/api/v1/subscribers', subscribe(), '203.0.113.5'),
    );
    const statuses = (await Promise.all(subscriptions)).sort((a, b) => a - b);
    assert.deepEqual(statuses, [...repeat(201, 3), ...repeat(429, 57)]);
  });
});
