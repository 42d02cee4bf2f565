import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';

import { addJobs } from '#server/jobs/add-jobs.ts';

import { openCommandLine } from '../../test/test-command-line.ts';

const { directory, pool, run } = await openCommandLine();

/** A job that was tried in vain. Gives its id. */
async function giveUp(transactionId: string): Promise<number> {
  const payload = { provider: 'paddle', transactionId };
  await addJobs(pool, [{ name: 'send_key_email', payload, key: transactionId, maxAttempts: 3 }]);
  const { rows } = await pool.query<{ id: number }>(
    `update jobs set attempts = 3, last_error = 'the mail relay did not take it: timeout'
     where key = $1 returning id`,
    [`send_key_email:${transactionId}`],
  );
  return rows[0]?.id ?? 0;
}

beforeEach(async () => {
  await pool.query('truncate jobs, key_emails, audit_log');
});

test('what was given up is listed, tried again by id or all together, and leaves an audit row', async () => {
  const [first, second] = [await giveUp('txn_1'), await giveUp('txn_2')];
  const payload = { provider: 'paddle', transactionId: 'txn_3' };
  await addJobs(pool, [{ name: 'send_key_email', payload }]);
  const listed = await run('jobs', 'list');
  assert.equal(listed.code, 0, listed.stderr);
  assert.match(
    listed.stdout,
    new RegExp(
      `^${first} +send_key_email:txn_1 +given up +3/3 .* – +the mail relay did not take it: timeout$`,
      'mu',
    ),
  );
  assert.equal(listed.stdout.trimEnd().split('\n').length, 3, 'the head and two jobs');

  const one = await run('jobs', 'retry', String(first), '--reason', 'the relay is back');
  assert.deepEqual([one.code, one.stdout], [0, '1 job begins again.\n']);
  const rest = await run('jobs', 'retry', '--all', '--json');
  assert.deepEqual(JSON.parse(rest.stdout), { retried: 1 });
  assert.equal((await run('jobs', 'list')).stdout, 'There are none.\n');
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
    { action: 'jobs.retry', subject_id: 'given_up', reason: null, details: { retried: 1 } },
  ]);
  assert.ok(second > first);
});

test('a retry names its jobs; one that is not there is a failure', async () => {
  const nothing = await run('jobs', 'retry');
  assert.equal(nothing.code, 2);
  assert.match(nothing.stderr, /Name the jobs by their ids, or all/u);
  assert.equal((await run('jobs', 'retry', 'x')).code, 2);
  const unknown = await run('jobs', 'retry', '999999');
  assert.deepEqual([unknown.code, unknown.stdout], [1, '']);
});

test('the doctor tells of jobs that were given up and of e-mails that wait', async () => {
  const healthy = await run('doctor');
  assert.match(healthy.stdout, /^✓ jobs: 0 to be done, none given up\.$/mu);
  assert.match(healthy.stdout, /^✓ mail: Not configured; no e-mail waits\.$/mu);
  await giveUp('txn_1');
  await pool.query(
    `insert into key_emails (transaction_id, provider, state, reason, created_at)
     values ('1', 'paddle', 'waiting', 'no_mail', now()), ('2', 'paddle', 'waiting', 'no_address', now()),
            ('3', 'paddle', 'refused', 'smtp_550', now()), ('4', 'paddle', 'sent', null, now())`,
  );
  const { code, stdout } = await run('doctor');
  assert.equal(code, 0, 'the service itself runs');
  assert.match(stdout, /^! jobs: Jobs were given up: 1\./mu);
  assert.match(stdout, /^! mail: E-mails with keys that wait: 1\./mu);
  assert.match(stdout, /^! mail: E-mails with keys that wait for an address: 1\.$/mu);
  assert.match(stdout, /^! mail: E-mails with keys that were refused for good: 1\.$/mu);
});

test('an e-mail can be looked at in each language and form', async () => {
  const shown = await run('mail', 'preview', 'key', '--locale', 'de-AT', '--text');
  assert.match(shown.stdout, /^Ihre 2 Lizenzschlüssel\n/u);
  const file = join(directory, 'key.html');
  const written = await run('mail', 'preview', 'key', '--out', file);
  assert.deepEqual([written.code, written.stdout], [0, '']);
  assert.match(readFileSync(file, 'utf8'), /^<!doctype html>\n<html lang="en">/u);
  const lost = await run('mail', 'preview', 'key', '--out', '/nowhere/key.html');
  assert.equal(lost.code, 1);
  assert.match(lost.stderr, /\/nowhere\/key\.html cannot be written/u);
});
