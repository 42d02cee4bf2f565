/**
 * A worker without a free file descriptor loses a connection that is passed to it. Node's cluster passes it no other one from
 * then on: when all workers had lost one, the service accepted connections and answered none of them.
 */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';

import { createExternalHome } from '../external-service.ts';
import { findFileLimitObstacle, setFileLimit } from '../file-limit.ts';
import { waitForBothWorkers } from './both-workers.ts';
import { lacksWorkers } from './lacks-workers.ts';

const obstacle = await findFileLimitObstacle();

/** Below the descriptors that a worker has open. */
const NO_DESCRIPTORS = 16;

/** Sends one request on a connection of its own; returns the status, or 0 without an answer. */
function ask(url: string): Promise<number> {
  return new Promise((resolve) => {
    const options = { agent: false, timeout: 5_000 };
    const sent = request(`${url}/api/v1/health/live`, options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(0)).end();
  });
}

test(
  'a worker that could not take a connection is replaced',
  { skip: lacksWorkers || (obstacle ?? false) },
  async () => {
    await using external = await createExternalHome();
    const service = await external.start({}, ['--workers', '2']);
    await waitForBothWorkers(service);
    const started = await service.waitForLine(/"worker\.started","worker":1,/u);
    const pid = Number(/"pid":(\d+)/u.exec(started)?.[1]);
    await setFileLimit(pid, NO_DESCRIPTORS);
    // Every second connection is passed to it.
    await Promise.all([ask(service.url), ask(service.url)]);
    await service.waitForLine(/"worker\.connection_lost","worker":1,/u);
    await service.waitForLine(/"worker\.started","worker":3,/u);
    const statuses = await Promise.all(Array.from({ length: 8 }, () => ask(service.url)));
    assert.deepEqual(new Set(statuses), new Set([200]));
  },
);
