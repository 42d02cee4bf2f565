import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { insertMessages, listMessages } from '#server/features/outreach/queries/messages.ts';
import { upsertSubscriber } from '#server/features/subscribers/queries/subscribers.ts';
import { hashAddress, subscriberIdOf } from '#server/features/suppressions/address-hash.ts';
import { insertSuppression } from '#server/features/suppressions/queries/suppressions.ts';
import { createVault } from '#server/lib/vault.ts';

import { COMMAND_LINE_SECRET, openCommandLine } from '../../test/test-command-line.ts';
import { checkSubscribers } from '#server/features/doctor/check-mail.ts';

const { directory, pool, run, runJson } = await openCommandLine();
const vault = createVault(COMMAND_LINE_SECRET);

const at = (minute: number) => new Date(Date.UTC(2026, 10, 20, 10, minute));

async function subscribe(email: string, minute: number, confirmed = true): Promise<string> {
  const addressHash = hashAddress(vault, email);
  const id = subscriberIdOf(vault, addressHash);
  const request = { addressHash, id, email, language: 'fr', now: at(minute), confirmed } as const;
  await upsertSubscriber(pool, request);
  return id;
}

const ada = await subscribe('Ada@example.com', 1);
await subscribe('=2+3@example.com', 2);
await subscribe('pending@example.com', 3, false);
const bobHash = hashAddress(vault, 'bob@example.com');
await insertSuppression(pool, {
  addressHash: bobHash,
  reason: 'unsubscribed',
  suppressedAt: at(4),
});

test('lists subscribers by state, newest first', async () => {
  const all: Record<string, unknown>[] = await runJson('subscriber', 'list');
  assert.deepEqual(
    all.map(({ email, state }) => [email, state]),
    [
      ['pending@example.com', 'pending'],
      ['=2+3@example.com', 'confirmed'],
      ['Ada@example.com', 'confirmed'],
    ],
  );
  const table = await run('subscriber', 'list', '--state', 'confirmed', '--limit', '1');
  assert.match(table.stdout, /^ADDRESS +STATE/u);
  assert.match(table.stdout, /^=2\+3@example\.com +confirmed +fr +2026-11-20 10:02 UTC/mu);
  assert.doesNotMatch(table.stdout, /Ada|pending/u);
});

test('exports every subscriber, with escaped formulas, to a file of its owner', async () => {
  const output = join(directory, 'news.csv');
  const { code, stderr } = await run('subscriber', 'export', '--output', output);
  assert.equal(code, 0, stderr);
  const lines = readFileSync(output, 'utf8').trimEnd().split('\r\n');
  assert.deepEqual(lines, [
    'id,email,state,language,opt_in,first_subscribed_at,subscribed_at,confirmed_at,confirmation_mailed_at,confirmation_problem,suppression_reason,suppressed_at',
    `${subscriberIdOf(vault, hashAddress(vault, 'pending@example.com'))},pending@example.com,pending,fr,,${at(3).toISOString()},${at(3).toISOString()},,,,,`,
    `${subscriberIdOf(vault, hashAddress(vault, '=2+3@example.com'))},'=2+3@example.com,confirmed,fr,single,${at(2).toISOString()},${at(2).toISOString()},${at(2).toISOString()},,,,`,
    `${ada},Ada@example.com,confirmed,fr,single,${at(1).toISOString()},${at(1).toISOString()},${at(1).toISOString()},,,,`,
  ]);
  assert.equal(statSync(output).mode & 0o777, 0o600);
  const confirmed = await run('subscriber', 'export', '--state', 'pending', '--format', 'jsonl');
  assert.equal(JSON.parse(confirmed.stdout).email, 'pending@example.com');
});

/** Stores outreach messages to an address with their outcomes. */
async function storeLetters(requestId: string, email: string, errors: (string | null)[]) {
  const group = { requestId, template: 'personal', language: 'fr', createdAt: at(5) };
  const addressHash = hashAddress(vault, email);
  const messages = errors.map((error) => ({ addressHash, messageId: '<1@example.com>', error }));
  await insertMessages(pool, group, messages);
}

test('shows the outreach of an address as long as it is stored', async () => {
  await storeLetters('019b0000-0000-7000-8000-000000000001', 'lea@example.com', ['suppressed']);
  const { outreach } = await runJson('subscriber', 'show', 'Lea@example.com');
  assert.deepEqual(outreach, [
    { template: 'personal', language: 'fr', state: 'failed', created_at: at(5).toISOString() },
  ]);
});

test('shows an address, and erases everything except its suppression', async () => {
  const shown = await runJson('subscriber', 'show', 'ADA@EXAMPLE.com');
  assert.deepEqual(
    [shown.id, shown.subscriber.email, shown.suppression, shown.outreach, shown.history],
    [ada, 'Ada@example.com', null, [], []],
  );
  const text = await run('subscriber', 'show', 'ada@example.com');
  assert.match(text.stdout, /^state +confirmed$/mu);

  const request = '019b0000-0000-7000-8000-000000000002';
  await storeLetters(request, 'ada@example.com', [null, 'duplicate']);
  assert.equal((await runJson('subscriber', 'show', 'ada@example.com')).outreach.length, 2);

  const erased = await runJson('subscriber', 'erase', 'ada@example.com', '--reason', 'her request');
  assert.deepEqual([erased.id, erased.existed], [ada, true]);
  const left = await runJson('subscriber', 'show', 'ada@example.com');
  assert.equal(left.subscriber, null);
  assert.equal(left.suppression.reason, 'erased');
  assert.deepEqual(left.outreach, []);
  assert.equal((await listMessages(pool, request)).length, 2, 'for a repeated request');
  const { outreach } = await runJson('subscriber', 'show', 'lea@example.com');
  assert.equal(outreach.length, 1, 'messages to other addresses remain');
  assert.deepEqual(
    left.history.map(({ action, reason }: Record<string, unknown>) => [action, reason]),
    [['subscriber.erase', 'her request']],
  );
  const { rows } = await pool.query(
    `select t::text as row from subscribers t union all select t::text from suppressions t
     union all select t::text from audit_log t union all select t::text from subscriber_confirmations t`,
  );
  assert.ok(rows.length >= 4);
  assert.ok(rows.every(({ row }) => !/ada@/iu.test(row)));

  const unknown = await runJson('subscriber', 'erase', 'new@example.com', '--reason', 'x');
  assert.equal(unknown.existed, false);
});

test('suppresses an address manually, lifts it, and records both', async () => {
  const added = await runJson('suppression', 'add', 'Zoe@example.com', '--reason', 'by phone');
  assert.deepEqual(added, { suppressed: true });
  const listed: Record<string, unknown>[] = await runJson('suppression', 'list');
  assert.equal(listed[0]?.['reason'], 'by_hand');
  assert.equal(listed.at(-1)?.['address_hash'], bobHash);
  const removed = await runJson('suppression', 'remove', 'zoe@example.com', '--reason', 'asked');
  assert.deepEqual(removed, { suppressed: false });
  const twice = await run('suppression', 'remove', 'zoe@example.com', '--reason', 'asked');
  assert.deepEqual([twice.code, twice.stdout], [1, '']);
  assert.match(twice.stderr, /not suppressed/u);
  const { history } = await runJson('subscriber', 'show', 'zoe@example.com');
  assert.deepEqual(
    history.map(({ action }: Record<string, unknown>) => action),
    ['suppression.add', 'suppression.remove'],
  );
});

test('keeps the reason of an erased address that is suppressed manually', async () => {
  for (const args of [
    ['subscriber', 'erase'],
    ['suppression', 'add'],
  ]) {
    const { code, stderr } = await run(...args, 'eve@example.com', '--reason', 'her request');
    assert.equal(code, 0, stderr);
  }
  await subscribe('eve@example.com', 9, false);
  const { subscriber, suppression } = await runJson('subscriber', 'show', 'eve@example.com');
  assert.deepEqual(
    [subscriber.email, subscriber.state, suppression.reason],
    [null, 'erased', 'erased'],
  );
  await run('suppression', 'remove', 'eve@example.com', '--reason', 'asked');
  await pool.query('delete from subscribers where email is null');
});

test('rejects invalid addresses, missing reasons and unknown states (exit code 2)', async () => {
  for (const args of [
    ['subscriber', 'show', 'nobody'],
    ['subscriber', 'erase', 'ada@example.com'],
    ['suppression', 'add', 'ada@example.com'],
    ['subscriber', 'list', '--state', 'happy'],
  ]) {
    assert.equal((await run(...args)).code, 2, args.join(' '));
  }
});

test('doctor reports subscribers without a confirmation e-mail', async () => {
  const rate = { perMinute: 5, burst: 5 };
  const config = { subscribers: { doubleOptIn: true, rate } };
  const examine = async (smtpUrl: string | null) => {
    const [finding] = await checkSubscribers(pool, config, { smtpUrl }, new Date());
    return finding === undefined ? null : [finding.status, finding.code, finding.facts];
  };
  const code = 'subscribers.confirmation_not_sent';
  assert.deepEqual(await examine(null), [
    'warning',
    code,
    { subscribers: 1, configured: false, problem: null },
  ]);
  await pool.query(
    `update subscribers set confirmation_problem = 'timeout' where confirmed_at is null`,
  );
  assert.deepEqual(await examine('smtp://relay'), [
    'warning',
    code,
    { subscribers: 1, configured: true, problem: 'timeout' },
  ]);
  await pool.query(
    `update subscribers set confirmation_problem = 'smtp_550' where confirmed_at is null`,
  );
  assert.equal(await examine('smtp://relay'), null, 'a mistyped address needs no action');
  assert.deepEqual(
    await checkSubscribers(
      pool,
      { subscribers: { doubleOptIn: false, rate } },
      { smtpUrl: null },
      new Date(),
    ),
    [],
  );
});
