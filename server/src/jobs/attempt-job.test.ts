import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createPool } from '#server/db/pool.ts';
import { createLog } from '#server/log.ts';

import { attemptJob } from './attempt-job.ts';
import { defineTask } from './task.ts';

test('a job that fails while the database is away is counted and stored with its own reason', async (t) => {
  const lines: string[] = [];
  const log = createLog({ level: 'warn', destination: { write: (line) => lines.push(line) } });
  const nowhere = { host: '127.0.0.1', port: 1, user: 'x', database: 'x' };
  const pool = createPool(nowhere, { maxConnections: 1, log });
  t.after(() => pool.end());
  const counted: string[] = [];
  const metrics = { countJob: (job: string, outcome: string) => counted.push(`${job} ${outcome}`) };
  const task = defineTask('retry_webhooks', async () => {
    throw new Error('the shop closed');
  });
  const { signal } = new AbortController();
  const attempt = { jobId: '1', key: 'some', number: 1, of: 25, signal };
  await assert.rejects(attemptJob({ pool, log, metrics }, task, {}, attempt), {
    message: 'the shop closed',
  });
  assert.deepEqual(counted, ['retry_webhooks failed']);
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)).map(({ msg, err }) => [msg, err.code ?? err.message]),
    [
      ['it cannot be told whether a failed job was replaced', 'ECONNREFUSED'],
      ['a job failed and will be tried again', 'the shop closed'],
    ],
  );
});
