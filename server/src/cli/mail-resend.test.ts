import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { openCommandLine } from '../../test/test-command-line.ts';

const { pool, run } = await openCommandLine();

async function refuse(transactionId: string, reason: string): Promise<void> {
  await pool.query(
    `insert into key_emails (transaction_id, provider, state, reason, created_at)
     values ($1, 'paddle', 'refused', $2, now())`,
    [transactionId, reason],
  );
}

beforeEach(async () => {
  await pool.query('truncate jobs, key_emails, audit_log');
});

test('queues refused e-mails again, and records the reason', async () => {
  await refuse('txn_1', 'smtp_550');
  await refuse('txn_2', 'smtp_554');
  await refuse('txn_3', 'unconfirmed');
  const reason = ['--reason', 'the relay trusts us again'];
  const done = await run('mail', 'resend', '--refused', ...reason, '--json');
  assert.deepEqual([done.code, JSON.parse(done.stdout)], [0, { queued: 2 }]);
  const { rows: jobs } = await pool.query('select key from jobs order by key');
  assert.deepEqual(
    jobs.map(({ key }) => key),
    ['send_key_email:paddle:txn_1', 'send_key_email:paddle:txn_2'],
  );
  const { rows } = await pool.query('select action, subject_id, reason from audit_log');
  assert.deepEqual(rows, [
    { action: 'mail.resend', subject_id: 'refused', reason: 'the relay trusts us again' },
  ]);
  const other = await run('mail', 'resend', '--unconfirmed', '--json');
  assert.deepEqual([other.code, JSON.parse(other.stdout)], [0, { queued: 1 }]);
  const none = await run('mail', 'resend', '--refused', '--json');
  assert.deepEqual([none.code, JSON.parse(none.stdout)], [0, { queued: 0 }]);
});

test('rejects an unknown purchase (exit code 1), and none or two selections (exit code 2)', async () => {
  const unknown = await run('mail', 'resend', 'txn_9');
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /^latchkey: .*transaction/u);
  for (const args of [[], ['txn_1', '--refused'], ['--refused', '--unconfirmed']]) {
    const { code, stderr } = await run('mail', 'resend', ...args);
    assert.equal(code, 2);
    assert.match(stderr, /--refused/u);
  }
});
