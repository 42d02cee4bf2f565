/** The changes that no other area makes, each by keyboard alone, with its effect and its audit entry. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { disableOperator } from '../../../server/src/features/operators/manage.ts';
import {
  createTestOperator,
  redeemAsBrowser,
  TEST_PASSWORD,
} from '../../../server/test/operator-steps.ts';
import { press, pressButton, type DialogButton } from '../keyboard.ts';
import type { Console } from '../open-console.ts';

/** A button of a page, and what it changes. */
interface Change extends DialogButton {
  /** Below `/console`. */
  readonly path: (world: Console['world']) => string;
  /** A statement that creates what the button needs. */
  readonly before?: string;
  /** The action of the audit log. */
  readonly audit: string;
  /** A statement that returns one value, and that value after the change. */
  readonly effect: readonly [sql: string, value: unknown];
}

const REASON = { Reason: 'a test presses it' };

/** Where the database shows nothing else. */
const LAST_REASON = [
  'select reason from audit_log order by sequence desc limit 1',
  REASON.Reason,
] as const;

/** The last row is pressed last. */
const CHANGES: readonly Change[] = [
  {
    path: () => '/signing-keys',
    label: 'Revoke',
    title: 'Revoke this key',
    fields: REASON,
    done: 'The key is revoked.',
    audit: 'signing_key.revoke',
    effect: ['select count(*)::int from signing_keys where retired_at < created_at', 1],
  },
  {
    path: () => '/signing-keys',
    label: 'Rotate',
    title: 'Create a new signing key',
    confirm: 'Create key',
    fields: REASON,
    done: 'The new key was created.',
    audit: 'signing_key.rotate',
    effect: [`select count(*)::int from audit_log where action = 'signing_key.rotate'`, 3],
  },
  {
    path: (world) => `/operators/${world['operatorId']}`,
    label: 'Change role',
    fields: { Role: 'viewer' },
    done: 'The role was changed.',
    audit: 'operator.role',
    effect: [`select role from operators where email = 'grace@example.com'`, 'viewer'],
  },
  {
    path: () => '/payments?state=failed',
    label: 'Dismiss all',
    fields: REASON,
    done: 'The events are dismissed.',
    audit: 'webhook.dismiss',
    effect: [`select count(*)::int from billing_events where status = 'failed'`, 0],
  },
  {
    path: () => '/mail?state=failed',
    before: `update key_emails set state = 'refused', reason = 'smtp_550'`,
    label: 'Resend all with keys',
    fields: REASON,
    done: 'The e-mails are queued.',
    audit: 'mail.resend',
    effect: [`select count(*)::int from key_emails where state = 'refused'`, 0],
  },
  {
    path: (world) => `/webhooks/${world['salesEndpointId']}`,
    label: 'Edit',
    title: 'Edit endpoint',
    confirm: 'Save',
    fields: { Description: 'Renamed by a test', ...REASON },
    done: 'The endpoint was changed.',
    audit: 'endpoint.edit',
    effect: [
      `select count(*)::int from webhook_endpoints where description = 'Renamed by a test'`,
      1,
    ],
  },
  {
    path: () => '/webhooks?tab=deliveries',
    before: `update webhook_deliveries set state = 'failed', next_attempt_at = null where state <> 'delivered'`,
    label: 'Replay failed',
    confirm: 'Replay',
    fields: REASON,
    done: 'The deliveries are queued.',
    audit: 'endpoint.replay',
    effect: [`select count(*)::int from webhook_deliveries where state = 'failed'`, 0],
  },
  {
    path: () => '/subscribers/{id}',
    label: 'Resend confirmation',
    confirm: 'Send e-mail',
    fields: REASON,
    done: 'The e-mail is on its way.',
    audit: 'subscriber.resend_confirmation',
    effect: LAST_REASON,
  },
  {
    path: (world) => `/installs/${world['findInstall']}`,
    label: 'Export data',
    fields: REASON,
    done: 'The export is ready.',
    audit: 'install.export',
    effect: LAST_REASON,
  },
  {
    path: (world) => `/installs/${world['findInstall']}`,
    label: 'Erase events',
    fields: REASON,
    done: 'The events were erased.',
    audit: 'install.erase',
    effect: [`select count(*)::int from events where name = 'note_saved'`, 0],
  },
  {
    path: (world) => `/machine?id=${world['findMachine']}`,
    label: 'Erase use',
    title: 'Erase the days of use',
    fields: REASON,
    done: 'The days of use were erased.',
    audit: 'machine.erase',
    effect: LAST_REASON,
  },
  {
    path: () => '/jobs',
    before: `update jobs set attempts = max_attempts, failed_at = now() where key like '%txn_waiting'`,
    label: 'Retry failed jobs',
    confirm: 'Retry all',
    fields: REASON,
    done: 'The failed jobs run now.',
    audit: 'jobs.retry',
    effect: [`select attempts from jobs where key like '%txn_waiting'`, 0],
  },
];

async function readValue({ service }: Console, sql: string, values?: unknown[]): Promise<unknown> {
  const { rows } = await service.pool.query(sql, values);
  return Object.values(rows[0] ?? {})[0];
}

export function testChanges(running: () => Console): void {
  for (const change of CHANGES) {
    test(`${change.label} changes what it names: ${change.audit}`, async () => {
      const opened = running();
      if (change.before !== undefined) await opened.service.pool.query(change.before);
      const { page, close, go, problems } = await opened.open('admin');
      const path = change.path(opened.world);
      await go(path.replace('{id}', opened.world['pendingSubscriberId'] ?? ''));
      await pressButton(page, change);
      const [sql, value] = change.effect;
      assert.equal(await readValue(opened, sql), value);
      const last = 'select action from audit_log order by sequence desc limit 1';
      assert.equal(await readValue(opened, last), change.audit);
      assert.deepEqual(problems, []);
      await close();
    });
  }

  test('enables a disabled operator, then resets it to a one-time link', async () => {
    const opened = running();
    const { operatorId } = await redeemAsBrowser(opened.service, 'viewer');
    const change = { actor: 'test', reason: 'left the company' };
    await disableOperator(opened.service.context, { id: operatorId }, change);
    const { page, close, go, problems } = await opened.open('admin');
    await go(`/operators/${operatorId}`);
    await pressButton(page, { label: 'Enable', done: 'The operator is enabled.' });
    await page.getByRole('button', { name: 'Reset' }).waitFor();
    await press(page, 'Reset');
    await page.getByRole('dialog', { name: /^Reset / }).waitFor();
    await press(page, 'Create link');
    const link = page.getByRole('dialog', { name: 'One-time link' }).locator('code');
    assert.match((await link.textContent()) ?? '', /\/console\/welcome#[\w-]{43}$/);
    const sql = 'select password_hash is null from operators where id = $1';
    assert.equal(await readValue(opened, sql, [operatorId]), true);
    assert.deepEqual(problems, []);
    await close();
  });

  test('creates a new link for an invited operator, whose previous one ends', async () => {
    const opened = running();
    const { service } = opened;
    const { id, token } = await createTestOperator(service, 'support');
    const { page, close, go } = await opened.open('admin');
    await go(`/operators/${id}`);
    await page.getByText('This operator has not signed in yet.').waitFor();
    const button = { label: 'New link', title: 'Create a new link', confirm: 'Create link' };
    await pressButton(page, { ...button, done: 'The link was created.' });
    const link = page.getByRole('dialog', { name: 'One-time link' }).locator('code');
    const next = new URL((await link.textContent()) ?? '').hash.slice(1);
    await press(page, 'Done');
    const redeem = async (each: string): Promise<number> => {
      const body = { token: each, password: TEST_PASSWORD };
      return (await service.post('/api/v1/admin/session/redeem', body)).status;
    };
    assert.deepEqual([await redeem(token), await redeem(next)], [401, 200]);
    await close();
  });

  test('shows a hostile user agent as text, and ends all sessions of an operator', async () => {
    const opened = running();
    const { world } = opened;
    const { page, close, go, problems } = await opened.open('admin');
    await go(`/operators/${world['operatorId']}`);
    const agents = page.locator('td span[title]');
    assert.equal(await agents.first().getAttribute('title'), world['hostileUserAgent']);
    assert.equal(await page.locator('img[src="x"]').count(), 0);
    await pressButton(page, {
      label: 'End all',
      title: 'End all sessions',
      done: 'The sessions ended.',
    });
    await page.getByText('Not signed in anywhere').waitFor();
    const sql = 'select count(*)::int from operator_sessions where operator_id = $1';
    assert.equal(await readValue(opened, sql, [world['operatorId']]), 0);
    assert.deepEqual(problems, []);
    await close();
  });

  test('ends all other sessions of oneself', async () => {
    const opened = running();
    const { page, close, go, problems } = await opened.open('viewer');
    const copied = await readValue(
      opened,
      `insert into operator_sessions
       select gen_random_uuid(), operator_id, sha256(token_hash), created_at, last_seen_at, proved_at, network, user_agent
       from operator_sessions order by created_at desc limit 1 returning operator_id`,
    );
    await go('/account');
    await pressButton(page, { label: 'End all others', done: 'All other sessions ended.' });
    const sql = 'select count(*)::int from operator_sessions where operator_id = $1';
    assert.equal(await readValue(opened, sql, [copied]), 1);
    assert.deepEqual(problems, []);
    await close();
  });
}
