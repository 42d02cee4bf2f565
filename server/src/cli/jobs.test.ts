import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { addJobs } from '#server/jobs/add-jobs.ts';

import { emptyAuditLog } from '../../test/audit-log.ts';
import { openCommandLine } from '../../test/test-command-line.ts';

const { pool, run } = await openCommandLine();

/** Adds a job that exhausted its retries, and returns its id. */
async function addFailedJob(transactionId: string): Promise<number> {
  const payload = { provider: 'paddle', transactionId };
  await addJobs(pool, [{ name: 'send_key_email', payload, key: transactionId, maxAttempts: 3 }]);
  const { rows } = await pool.query<{ id: number }>(
    `update jobs set attempts = 3, last_error = 'the mail relay did not accept it: timeout'
     where key = $1 returning id`,
    [`send_key_email:${transactionId}`],
  );
  return rows[0]?.id ?? 0;
}

beforeEach(async () => {
  await pool.query('truncate jobs, key_emails');
  await emptyAuditLog(pool);
});

test('lists failed jobs, retries them by id or all together, and records it', async () => {
  const [first, second] = [await addFailedJob('txn_1'), await addFailedJob('txn_2')];
  const payload = { provider: 'paddle', transactionId: 'txn_3' };
  await addJobs(pool, [{ name: 'send_key_email', payload }]);
  const listed = await run('jobs', 'list');
  assert.equal(listed.code, 0, listed.stderr);
  assert.match(
    listed.stdout,
    new RegExp(
      `^${first} +send_key_email:txn_1 +failed +3/3 .* – +the mail relay did not accept it: timeout$`,
      'mu',
    ),
  );
  assert.equal(listed.stdout.trimEnd().split('\n').length, 3, 'the head and two jobs');

  const reason = ['--reason', 'the relay is back'];
  const one = await run('jobs', 'retry', String(first), ...reason, '--json');
  assert.deepEqual(JSON.parse(one.stdout), { retried: 1 });
  const rest = await run('jobs', 'retry', '--all', '--json');
  assert.deepEqual(JSON.parse(rest.stdout), { retried: 1 });
  assert.deepEqual(JSON.parse((await run('jobs', 'list', '--json')).stdout), []);
  const all = JSON.parse((await run('jobs', 'list', '--all', '--json')).stdout);
  assert.deepEqual(
    all.map((job: Record<string, unknown>) => [job['state'], job['attempts']]),
    [
      ['waiting', 0],
      ['waiting', 0],
      ['waiting', 0],
    ],
  );
  const { rows } = await pool.query(
    'select action, subject_id, reason, details from audit_log order by id',
  );
  assert.deepEqual(rows, [
    {
      action: 'jobs.retry',
      subject_id: String(first),
      reason: 'the relay is back',
      details: { retried: 1 },
    },
    { action: 'jobs.retry', subject_id: 'failed', reason: null, details: { retried: 1 } },
  ]);
  assert.ok(second > first);
});

test('rejects a retry without jobs (exit code 2) or of an unknown job (exit code 1)', async () => {
  const nothing = await run('jobs', 'retry');
  assert.equal(nothing.code, 2);
  assert.match(nothing.stderr, /--all/u);
  assert.equal((await run('jobs', 'retry', 'x')).code, 2);
  const unknown = await run('jobs', 'retry', '999999');
  assert.deepEqual([unknown.code, unknown.stdout], [1, '']);
});
