import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';

import { Parse } from 'typebox/value';

import { writeLicenseActivity } from '#server/features/licenses/activity.ts';
import { createLicenseTasks } from '#server/features/licenses/background.ts';

import {
  LICENSES,
  listAudited,
  listLicenseIds,
  showLicense,
  TimelinePage,
} from '../admin-license-steps.ts';
import { startTestService } from '../harness.ts';
import { activate, anyMachine, deactivate, startTrial, validate } from '../license-steps.ts';
import { openBrowser } from '../operator-steps.ts';
import { DAY_MS, TEST_START } from '../test-clock.ts';
import { problem, readBody, validationErrorsOf } from './bodies.ts';

const service = await startTestService();
const { context, pool, clock } = service;
let viewer = await openBrowser(service, 'viewer');
const NOW = TEST_START.toISOString();

/** Writes what the service buffers, and computes the roll-ups. */
async function rollUp(): Promise<void> {
  await writeLicenseActivity(context);
  for (const { run, scope } of createLicenseTasks(context)) {
    if (scope === 'singleton') await run(new AbortController().signal);
  }
}

const ann = await service.issue({
  customerEmail: 'Ann@Example.com',
  customerName: 'Ann Example',
  transactionId: 'txn_ann',
});
clock.advance(1_000);
const bob = await service.issue({
  productId: 'yearly',
  customerEmail: 'bob@example.com',
  customerName: '100%_Bob',
  maxActivations: 1,
});
clock.advance(1_000);
const eve = await service.issue({
  productId: 'yearly',
  customerEmail: 'eve@example.com',
  expiresAt: new Date(TEST_START.getTime() + 20 * DAY_MS),
});
await service.setFacts(eve.license.id, { subscription: true });
const [annId, bobId, eveId] = [ann, bob, eve].map(({ license }) => license.id);
assert.ok(annId !== undefined && bobId !== undefined && eveId !== undefined);

beforeEach(() => clock.set(TEST_START));

describe('listing licenses', () => {
  test('returns everything but the key', async () => {
    const answer = await viewer.get(`${LICENSES}?search=ann@`);
    assert.deepEqual(answer.body, {
      items: [
        {
          id: annId,
          key_hint: ann.license.keyHint,
          product: 'personal',
          product_name: 'Personal',
          tier: 'personal',
          features: ['history', 'gpu'],
          status: 'active',
          trial: false,
          subscription: false,
          expires_at: null,
          max_activations: 2,
          active_machines: 0,
          last_seen_at: null,
          refusals_this_week: 0,
          customer_email: 'Ann@Example.com',
          customer_name: 'Ann Example',
          transaction_id: 'txn_ann',
          note: null,
          is_test: false,
          updates_until: null,
          created_at: NOW,
          version: 1,
        },
      ],
      next_cursor: null,
    });
  });

  test('pages and sorts', async () => {
    const first = await viewer.get(`${LICENSES}?limit=2`);
    const { items, next_cursor: cursor } = readBody(first.body);
    assert.ok(Array.isArray(items));
    assert.deepEqual(
      items.map(({ id }) => id),
      [eveId, bobId],
    );
    assert.deepEqual(await listLicenseIds(viewer, `limit=2&cursor=${String(cursor)}`), [annId]);
    assert.deepEqual(await listLicenseIds(viewer, 'sort=created_at'), [annId, bobId, eveId]);
    assert.deepEqual(await listLicenseIds(viewer, 'sort=expires_at'), [eveId, bobId, annId]);
    assert.deepEqual(await listLicenseIds(viewer, 'sort=-expires_at'), [annId, bobId, eveId]);
  });

  test('filters by product, tier, customer, checkout, trial, status and end', async () => {
    for (const [query, expected] of [
      ['product=personal', [annId]],
      ['tier=pro', [eveId, bobId]],
      ['email=ANN@example.com', [annId]],
      ['transaction=txn_ann', [annId]],
      ['transaction=txn_other', []],
      ['trial=true', []],
      ['trial=false&product=personal', [annId]],
      ['test=true', []],
      ['test=false&product=personal', [annId]],
      ['status=active', [eveId, bobId, annId]],
      ['status=revoked', []],
      ['expiring_days=20', [eveId]],
      ['expiring_days=19', []],
      ['expires_before=2027-03-22', [eveId]],
      ['expires_before=2027-03-21T11:59:59Z', []],
      ['expiring_days=400&sort=expires_at', [eveId, bobId]],
    ] as const) {
      assert.deepEqual(await listLicenseIds(viewer, query), expected, query);
    }
  });

  test('finds by key, last characters of the key, ids, and beginnings of names', async () => {
    for (const [search, expected] of [
      [ann.licenseKey, [annId]],
      [` ${ann.licenseKey.toLowerCase()} `, [annId]],
      [ann.license.keyHint.toLowerCase(), [annId]],
      [bobId, [bobId]],
      ['txn_ann', [annId]],
      ['ann', [annId]],
      ['100%_', [bobId]],
      ['100%b', []],
      ['_nn', []],
      ['example', []],
      ['x\\', []],
    ] as const) {
      const query = `search=${encodeURIComponent(search)}`;
      assert.deepEqual(await listLicenseIds(viewer, query), expected, search);
    }
  });

  test('has ready filters for machines and refusals', async () => {
    const machine = anyMachine();
    const activation = await activate(service, bob.licenseKey, machine);
    const { status } = await service.post('/api/v1/licenses/activate', {
      license_key: bob.licenseKey,
      machine_fingerprint: anyMachine(),
    });
    assert.equal(status, 409);
    await rollUp();
    assert.deepEqual(await listLicenseIds(viewer, 'machines=limit_reached'), [bobId]);
    assert.deepEqual(await listLicenseIds(viewer, 'machines=never_activated'), [eveId, annId]);
    assert.deepEqual(await listLicenseIds(viewer, 'machines=silent'), []);
    assert.deepEqual(await listLicenseIds(viewer, 'refused=any'), [bobId]);
    assert.deepEqual(await listLicenseIds(viewer, 'refused=activation_limit_reached'), [bobId]);
    assert.deepEqual(await listLicenseIds(viewer, 'refused=machine_mismatch'), []);
    const listed = readBody((await viewer.get(`${LICENSES}?refused=any`)).body)['items'];
    assert.deepEqual(Object(Array.isArray(listed) ? listed[0] : {}).refusals_this_week, 1);

    clock.advance(8 * DAY_MS);
    assert.deepEqual(await listLicenseIds(await openBrowser(service), 'refused=any'), []);
    clock.advance(83 * DAY_MS);
    // The first session has expired.
    viewer = await openBrowser(service, 'viewer');
    assert.deepEqual(await listLicenseIds(viewer, 'machines=silent'), [bobId]);
    await validate(service, bob.licenseKey, activation.activation_id, machine.machine_id);
    assert.deepEqual(await listLicenseIds(viewer, 'machines=silent'), []);
    await deactivate(service, bob.licenseKey, activation.activation_id, machine.machine_id);
    assert.deepEqual(await listLicenseIds(viewer, 'machines=limit_reached'), []);
  });

  for (const query of ['expiring_days=0', 'expiring_days=x', 'expiring_days=3651']) {
    test(`rejects ${query}`, async () => {
      const answer = await viewer.get(`${LICENSES}?${query}`);
      assert.equal(answer.status, 422);
      assert.deepEqual(validationErrorsOf(answer.body), [['query.expiring_days', 'int_range']]);
    });
  }

  test('rejects an unknown filter, sort and status', async () => {
    for (const query of ['color=red', 'sort=key', 'status=nice', 'machines=2', 'refused=yes']) {
      assert.equal((await viewer.get(`${LICENSES}?${query}`)).status, 422, query);
    }
  });
});

describe('showing a license', () => {
  test('has its diagnosis, machines, moves and refusals', async () => {
    const issued = await service.issue({ maxActivations: 1, customerEmail: 'kim@example.com' });
    const machine = { machine_id: 'm-1', os_version: '15.1', app_version: '2.4.0' };
    const { activation_id: activationId } = await activate(service, issued.licenseKey, machine);
    for (const _ of [1, 2]) {
      await service.post('/api/v1/licenses/activate', {
        license_key: issued.licenseKey,
        machine_fingerprint: anyMachine(),
      });
    }
    await rollUp();
    const { status, body } = await viewer.get(`${LICENSES}/${issued.license.id}`);
    const shown = readBody(body);
    assert.equal(status, 200);
    assert.deepEqual(shown['diagnosis'], {
      code: 'limit_reached',
      level: 'problem',
      sentence:
        'The one computer of the license is in use, and another one was refused (twice this week, last today).',
      advice: 'Free a computer that is no longer used, or raise the limit.',
      actions: ['free_machine', 'change_limit'],
    });
    assert.deepEqual(shown['machines'], [
      {
        activation_id: activationId,
        machine_id: 'm-1',
        is_active: true,
        os_version: '15.1',
        app_version: '2.4.0',
        activated_at: NOW,
        deactivated_at: null,
        last_seen_at: NOW,
        validation_count: 0,
        offline_until: new Date(TEST_START.getTime() + 14 * DAY_MS).toISOString(),
        airgapped_until: null,
      },
    ]);
    assert.deepEqual(shown['moves'], { used: 1, limit: 4, days: 30, extra: 0 });
    assert.deepEqual(shown['refusals'], [
      { reason: 'activation_limit_reached', refusals: 2, last_at: NOW },
    ]);
    assert.equal(JSON.stringify(body).includes(issued.licenseKey), false);
  });

  test('shows a trial and its end', async () => {
    await startTrial(service, anyMachine());
    const [id = ''] = await listLicenseIds(viewer, 'trial=true');
    const shown = await showLicense(viewer, id);
    assert.deepEqual([shown.trial, shown.tier, shown.diagnosis.code], [true, 'trial', 'ends_soon']);
  });

  test('rejects an unknown id', async () => {
    const answer = await viewer.get(`${LICENSES}/0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d`);
    assert.deepEqual([answer.status, answer.body], [404, problem('license_not_found')]);
  });
});

async function read(id: string, query = '') {
  const answer = await viewer.get(`${LICENSES}/${id}/timeline?${query}`);
  assert.equal(answer.status, 200, answer.text);
  return Parse(TimelinePage, answer.body);
}

describe('the timeline of a license', () => {
  test('has audit entries, payments, mails, machines, refusals and webhooks, newest first', async () => {
    const admin = await openBrowser(service, 'admin');
    const { license, licenseKey } = await service.issue();
    await pool.query(`insert into billing_licenses values ('txn_t', 'paddle', '1', $1)`, [
      license.id,
    ]);
    await pool.query(
      `insert into billing_events (event_id, provider, type, occurred_at, received_at, headers, status, raw)
       values ('evt_1', 'paddle', 'transaction.completed', $1, $1, '{}', 'processed', ''),
              ('evt_2', 'paddle', 'subscription.updated', $1, $1, '{}', 'processed', ''),
              ('evt_3', 'paddle', 'transaction.completed', $1, $1, '{}', 'processed', '')`,
      [new Date(TEST_START.getTime() - 5_000)],
    );
    await pool.query(
      `insert into billing_payments (transaction_id, provider, event_id, subscription_id, occurred_at, fact)
       values ('txn_t', 'paddle', 'evt_1', 'sub_t', $1, '{}')`,
      [TEST_START],
    );
    await pool.query(
      `insert into billing_subscriptions (subscription_id, provider, event_id, occurred_at, fact)
       values ('sub_t', 'paddle', 'evt_2', $1, '{}')`,
      [TEST_START],
    );
    await pool.query(
      `insert into key_emails (transaction_id, provider, state, reason, created_at) values ('txn_t', 'paddle', 'refused', 'smtp_550', $1)`,
      [new Date(TEST_START.getTime() - 1_000)],
    );
    await pool.query(
      `insert into webhook_messages (id, type, license_id, payload, created_at) values ('msg_1', 'license.created', $1, '{}', $2)`,
      [license.id, new Date(TEST_START.getTime() - 2_000)],
    );
    clock.advance(1_000);
    await activate(service, licenseKey, anyMachine());
    clock.advance(1_000);
    const body = { expected_version: 1, reason: 'a dispute' };
    assert.equal((await admin.post(`${LICENSES}/${license.id}/suspend`, body)).status, 200);
    clock.advance(1_000);
    await service.post('/api/v1/licenses/activate', {
      license_key: licenseKey,
      machine_fingerprint: anyMachine(),
    });
    await rollUp();

    const { items, next_cursor: next } = await read(license.id);
    assert.equal(next, null);
    assert.deepEqual(
      items.map(({ kind, code }) => `${kind} ${code}`),
      [
        'refusal license_suspended',
        'audit license.suspend',
        'machine activated',
        'license created',
        'audit license.issue',
        'mail refused',
        'webhook license.created',
        'payment subscription.updated',
        'payment transaction.completed',
      ],
    );
    const suspended = items[1];
    assert.deepEqual(suspended, {
      id: suspended?.id,
      occurred_at: new Date(TEST_START.getTime() + 2_000).toISOString(),
      kind: 'audit',
      code: 'license.suspend',
      actor: `operator:${admin.email}`,
      reason: 'a dispute',
      details: { expires_at: null },
    });
    assert.deepEqual(items.at(-1)?.details, {
      provider: 'paddle',
      event_id: 'evt_1',
      status: 'processed',
      message: null,
    });

    const paged: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await read(license.id, `limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      paged.push(...page.items.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    assert.deepEqual(
      paged,
      items.map(({ id }) => id),
    );
    const machines = await read(license.id, 'kind=machine');
    assert.deepEqual(
      machines.items.map(({ code }) => code),
      ['activated'],
    );
  });

  test('rejects a cursor that is none, and an unknown license', async () => {
    for (const cursor of [
      'x',
      Buffer.from('{"sort":"occurred_at","descending":true,"value":"x","id":"y"}').toString(
        'base64url',
      ),
    ]) {
      const answer = await viewer.get(`${LICENSES}/${ann.license.id}/timeline?cursor=${cursor}`);
      assert.equal(answer.status, 422);
    }
    const path = `${LICENSES}/0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d/timeline`;
    assert.equal((await viewer.get(path)).status, 404);
  });
});

describe('exporting licenses', () => {
  test('has the rows of the filter without keys, and an audit entry', async () => {
    const support = await openBrowser(service, 'support');
    const answer = await support.get(`${LICENSES}/export?product=personal&search=ann`);
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-disposition') ?? '', /licenses\.csv/u);
    assert.equal(
      answer.text,
      `license_id,key_hint,product,tier,features,status,expires_at,updates_until,max_activations,trial,subscription,customer_email,customer_name,note,is_test,transaction_id,created_at\r\n${annId},${ann.license.keyHint},personal,personal,history gpu,active,,,2,false,false,Ann@Example.com,Ann Example,,false,txn_ann,${NOW}\r\n`,
    );
    assert.deepEqual((await listAudited(service, 'licenses')).at(-1), {
      action: 'license.export',
      actor: `operator:${support.email}`,
      reason: null,
      details: { product: 'personal', search: true },
    });
  });

  test('has the keys for administrators', async () => {
    const admin = await openBrowser(service, 'admin');
    const answer = await admin.get(`${LICENSES}/export-with-keys?search=txn_ann`);
    assert.ok(answer.text.includes(`${annId},${ann.licenseKey},`), answer.text);
    assert.deepEqual(Object((await listAudited(service, 'licenses')).at(-1)).details, {
      search: true,
      reveal: true,
    });
  });
});
