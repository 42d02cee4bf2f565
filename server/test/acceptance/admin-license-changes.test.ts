import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';

import {
  expectProblem,
  LICENSES,
  listAudited,
  listLicenseIds,
  readLicense,
  showLicense,
} from '../admin-license-steps.ts';
import { startTestService } from '../harness.ts';
import { activate, anyMachine, validate } from '../license-steps.ts';
import { openBrowser } from '../operator-steps.ts';
import { DAY_MS, SECOND_MS, TEST_START } from '../test-clock.ts';
import { problem, readBody, validationErrorsOf } from './bodies.ts';

const mail = {
  send: async () => ({ outcome: 'sent', messageId: 'm' }) as const,
  close() {},
};
const service = await startTestService({ mail, mailFrom: 'shop@example.com' });
const { clock, pool } = service;
const admin = await openBrowser(service, 'admin');
const support = await openBrowser(service, 'support');
const UNKNOWN = '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d';

/** The second request of a test is at another time, so that the order of entries is certain. */
beforeEach(() => clock.set(TEST_START));

const based = { expected_version: 1, reason: 'ticket 4711' };

async function listJobs(): Promise<string[]> {
  const { rows } = await pool.query('select key from jobs order by key');
  return rows.map(({ key }) => key);
}

describe('suspending, reinstating and revoking', () => {
  test('changes the status, with an audit entry each', async () => {
    const { license } = await service.issue();
    const path = `${LICENSES}/${license.id}`;
    const suspended = readLicense(await admin.post(`${path}/suspend`, based));
    assert.deepEqual(
      [suspended.status, suspended.suspended_at, suspended.version, suspended.diagnosis.code],
      ['suspended', TEST_START.toISOString(), 2, 'suspended'],
    );
    const again = { ...based, expected_version: 2 };
    assert.equal(readLicense(await admin.post(`${path}/reinstate`, again)).status, 'active');
    const revoke = { ...based, expected_version: 3 };
    assert.equal(readLicense(await admin.post(`${path}/revoke`, revoke)).status, 'revoked');
    const entry = {
      actor: `operator:${admin.email}`,
      reason: 'ticket 4711',
      details: { expires_at: null },
    };
    assert.deepEqual(await listAudited(service, license.id), [
      { action: 'license.suspend', ...entry },
      { action: 'license.reinstate', ...entry },
      { action: 'license.revoke', ...entry },
    ]);
  });

  for (const [verb, fields] of Object.entries({
    suspend: {},
    reinstate: {},
    revoke: {},
    'change-limit': { max_activations: 5 },
    extend: { days: 1 },
    'change-updates': { days: 1 },
    rekey: { keep_machines: true, send_mail: false },
  })) {
    test(`${verb} rejects a stale version with the current state, and changes nothing`, async () => {
      const { license } = await service.issue();
      await service.setFacts(license.id, { paused_at: null });
      const answer = await admin.post(`${LICENSES}/${license.id}/${verb}`, { ...based, ...fields });
      const current = await showLicense(admin, license.id);
      expectProblem(answer, 'conflict', { current });
      assert.deepEqual([current.version, current.status], [2, 'active']);
      assert.deepEqual(await listAudited(service, license.id), []);
    });
  }

  test('rejects an unknown license, an empty reason and a missing version', async () => {
    expectProblem(await admin.post(`${LICENSES}/${UNKNOWN}/suspend`, based), 'license_not_found');
    const { license } = await service.issue();
    const answer = await admin.post(`${LICENSES}/${license.id}/suspend`, { reason: '' });
    assert.deepEqual(validationErrorsOf(answer.body), [
      ['body.expected_version', 'missing'],
      ['body.reason', 'string_too_short'],
    ]);
  });
});

describe('extending', () => {
  test('adds days, sets a date, and removes the end', async () => {
    const { license } = await service.issue({ productId: 'yearly' });
    const path = `${LICENSES}/${license.id}/extend`;
    const days = readLicense(await support.post(path, { ...based, days: 10 }));
    const until = new Date(TEST_START.getTime() + 375 * DAY_MS).toISOString();
    assert.deepEqual([days.expires_at, days.extended_until], [until, until]);
    const body = { ...based, expected_version: days.version };
    const set = readLicense(await support.post(path, { ...body, until: '2031-05-01T00:00:00Z' }));
    assert.equal(set.expires_at, '2031-05-01T00:00:00.000Z');
    const last = { ...based, expected_version: set.version, until: null };
    const perpetual = readLicense(await support.post(path, last));
    assert.deepEqual([perpetual.expires_at, perpetual.extended_until], [null, 'infinity']);
  });

  test('needs either days or a date', async () => {
    const { license } = await service.issue();
    const path = `${LICENSES}/${license.id}/extend`;
    for (const end of [{}, { days: 1, until: null }]) {
      const answer = await support.post(path, { ...based, ...end });
      assert.deepEqual(
        [answer.status, validationErrorsOf(answer.body)],
        [422, [['body.days', 'value_error']]],
      );
    }
    const zero = await support.post(path, { ...based, days: 0 });
    assert.deepEqual(validationErrorsOf(zero.body), [['body.days', 'greater_than_equal']]);
  });
});

describe('changing the limit of machines', () => {
  test('allows more machines, and outlasts a payment', async () => {
    const { license, licenseKey } = await service.issue({ maxActivations: 1 });
    await activate(service, licenseKey);
    const body = { ...based, max_activations: 2 };
    const changed = readLicense(await admin.post(`${LICENSES}/${license.id}/change-limit`, body));
    assert.deepEqual([changed.max_activations, changed.granted_activations], [2, 2]);
    await activate(service, licenseKey);
    assert.deepEqual(await listLicenseIds(admin, 'machines=limit_reached'), []);
    assert.deepEqual(await listAudited(service, license.id), [
      {
        action: 'license.change_limit',
        actor: `operator:${admin.email}`,
        reason: 'ticket 4711',
        details: { max_activations: 2, previous_max_activations: 1 },
      },
    ]);
  });

  for (const limit of [0, -1, 1_000_001, 1.5, '3']) {
    test(`rejects ${JSON.stringify(limit)}`, async () => {
      const { license } = await service.issue();
      const body = { ...based, max_activations: limit };
      const answer = await admin.post(`${LICENSES}/${license.id}/change-limit`, body);
      assert.equal(answer.status, 422);
    });
  }
});

test('changing the end of updates sets a date, adds days and removes it, with an audit entry each', async () => {
  const { license } = await service.issue();
  const path = `${LICENSES}/${license.id}/change-updates`;
  const end = new Date(TEST_START.getTime() + 10 * DAY_MS);
  const dated = readLicense(await support.post(path, { ...based, until: end.toISOString() }));
  assert.deepEqual([dated.updates_until, dated.expires_at], [end.toISOString(), null]);
  const body = { ...based, expected_version: dated.version };
  const later = readLicense(await support.post(path, { ...body, days: 5 }));
  const moved = new Date(end.getTime() + 5 * DAY_MS).toISOString();
  assert.equal(later.updates_until, moved);
  const last = { ...based, expected_version: later.version, until: null };
  assert.equal(readLicense(await support.post(path, last)).updates_until, null);
  const entries = await listAudited(service, license.id);
  assert.deepEqual(
    entries.map((entry) => Object(entry).details),
    [
      { updates_until: end.toISOString(), previous_updates_until: null },
      { updates_until: moved, previous_updates_until: end.toISOString() },
      { updates_until: null, previous_updates_until: moved },
    ],
  );
});

test('allowing moves raises the unused moves', async () => {
  const { license } = await service.issue();
  const path = `${LICENSES}/${license.id}/allow-moves`;
  const changed = readLicense(await support.post(path, { ...based, count: 2 }));
  assert.equal(changed.moves.extra, 2);
});

describe('changing the owner', () => {
  test('changes only the given fields, and names no address in the audit log', async () => {
    const { license } = await service.issue({ customerEmail: 'ann@example.com', note: 'press' });
    const path = `${LICENSES}/${license.id}/change-owner`;
    const body = { ...based, customer_email: 'kim@example.com', note: null };
    const changed = readLicense(await admin.post(path, body));
    assert.deepEqual(
      [changed.customer_email, changed.customer_name, changed.note, changed.owner_changed_at],
      ['kim@example.com', null, null, TEST_START.toISOString()],
    );
    const [entry] = await listAudited(service, license.id);
    assert.deepEqual(Object(entry).details, {
      email_changed: true,
      name_changed: false,
      note_changed: true,
    });
  });

  test('a changed note leaves the customer to payments', async () => {
    const { license } = await service.issue();
    const body = { ...based, note: 'called twice' };
    const path = `${LICENSES}/${license.id}/change-owner`;
    const changed = readLicense(await admin.post(path, body));
    assert.deepEqual([changed.note, changed.owner_changed_at], ['called twice', null]);
  });

  test('rejects an address that is none', async () => {
    const { license } = await service.issue();
    const path = `${LICENSES}/${license.id}/change-owner`;
    const answer = await admin.post(path, { ...based, customer_email: 'kim' });
    assert.deepEqual(validationErrorsOf(answer.body), [['body.customer_email', 'value_error']]);
  });
});

describe('keys', () => {
  test('reveals the key, with an audit entry', async () => {
    const { license, licenseKey } = await service.issue();
    const answer = await support.post(`${LICENSES}/${license.id}/reveal`, { reason: 'phone call' });
    assert.deepEqual([answer.status, answer.body], [200, { license_key: licenseKey }]);
    assert.deepEqual(await listAudited(service, license.id), [
      {
        action: 'license.reveal',
        actor: `operator:${support.email}`,
        reason: 'phone call',
        details: {},
      },
    ]);
  });

  test('replaces the key, keeps the machine, and queues the e-mail', async () => {
    await pool.query('truncate jobs');
    const { license, licenseKey } = await service.issue({ customerEmail: 'ann@example.com' });
    const machine = anyMachine();
    const { activation_id: activation } = await activate(service, licenseKey, machine);
    const body = { ...based, keep_machines: true, send_mail: true };
    const answer = await admin.post(`${LICENSES}/${license.id}/rekey`, body);
    const { license_key: newKey, machines, mail: outcome } = readBody(answer.body);
    assert.deepEqual([answer.status, machines, outcome], [200, 1, 'queued']);
    const old = await validate(service, licenseKey, activation, machine.machine_id);
    const current = await validate(service, String(newKey), activation, machine.machine_id);
    assert.deepEqual([old.valid, current.valid], [false, true]);
    assert.deepEqual(await listJobs(), [`send_replaced_key:${license.id}`]);
  });

  test('403: a new key needs a fresh proof', async () => {
    const { license } = await service.issue();
    clock.advance(600 * SECOND_MS);
    const body = { ...based, keep_machines: true, send_mail: false };
    const answer = await admin.post(`${LICENSES}/${license.id}/rekey`, body);
    assert.deepEqual([answer.status, answer.body], [403, problem('fresh_proof_required')]);
    assert.deepEqual(await listAudited(service, license.id), []);
  });

  test('sends the key again to the owner, or says why not', async () => {
    await pool.query('truncate jobs');
    const { license } = await service.issue({ customerEmail: 'ann@example.com' });
    const path = `${LICENSES}/${license.id}/resend`;
    const sent = await support.post(path, { reason: 'lost' });
    assert.deepEqual([sent.status, sent.body], [200, { mail: 'queued' }]);
    assert.deepEqual(await listJobs(), [`send_license_key:${license.id}`]);
    assert.deepEqual(await listAudited(service, license.id), [
      {
        action: 'license.resend_key',
        actor: `operator:${support.email}`,
        reason: 'lost',
        details: {},
      },
    ]);
    await service.setFacts(license.id, { revoked_at: TEST_START });
    assert.deepEqual((await support.post(path, { reason: 'lost' })).body, { mail: 'not_valid' });
    const unknown = await service.issue();
    const other = await support.post(`${LICENSES}/${unknown.license.id}/resend`, {
      reason: 'lost',
    });
    assert.deepEqual(other.body, { mail: 'no_address' });
    const missing = await support.post(`${LICENSES}/${UNKNOWN}/resend`, { reason: 'lost' });
    expectProblem(missing, 'license_not_found');
  });

  test('sends the e-mail of the purchase, unless a license of it has another owner', async () => {
    await pool.query('truncate jobs');
    const order = { customerEmail: 'ann@example.com' };
    const [one, two] = [await service.issue(order), await service.issue(order)];
    await pool.query(
      `insert into billing_licenses values ('txn_9', 'paddle', '1', $1), ('txn_9', 'paddle', '2', $2)`,
      [one.license.id, two.license.id],
    );
    await support.post(`${LICENSES}/${one.license.id}/resend`, { reason: 'lost' });
    assert.deepEqual(await listJobs(), ['send_key_email:paddle:txn_9']);
    const body = { ...based, customer_email: 'kim@example.com' };
    await admin.post(`${LICENSES}/${two.license.id}/change-owner`, body);
    await support.post(`${LICENSES}/${two.license.id}/resend`, { reason: 'sold' });
    assert.deepEqual((await listJobs()).toSorted(), [
      'send_key_email:paddle:txn_9',
      `send_license_key:${two.license.id}`,
    ]);
  });
});

describe('freeing a machine', () => {
  test('deactivates it once, with an audit entry', async () => {
    const { license, licenseKey } = await service.issue();
    const { activation_id: activation } = await activate(service, licenseKey);
    const path = `${LICENSES}/${license.id}/machines/${activation}/free`;
    const freed = readLicense(await support.post(path, { reason: 'stolen' }));
    assert.deepEqual(
      [freed.active_machines, freed.machines[0]?.is_active, freed.machines[0]?.deactivated_at],
      [0, false, TEST_START.toISOString()],
    );
    assert.equal((await support.post(path, { reason: 'stolen' })).status, 200);
    assert.deepEqual(await listAudited(service, license.id), [
      {
        action: 'license.free_machine',
        actor: `operator:${support.email}`,
        reason: 'stolen',
        details: { activation_id: activation },
      },
    ]);
  });

  test('rejects the machine of another license', async () => {
    const [one, two] = [await service.issue(), await service.issue()];
    const { activation_id: activation } = await activate(service, one.licenseKey);
    const path = `${LICENSES}/${two.license.id}/machines/${activation}/free`;
    expectProblem(await support.post(path, { reason: 'x' }), 'activation_not_found');
    const other = `${LICENSES}/${UNKNOWN}/machines/${activation}/free`;
    expectProblem(await support.post(other, { reason: 'x' }), 'license_not_found');
  });
});

describe('issuing', () => {
  test('creates a license with the terms of its product, and returns its key', async () => {
    await pool.query('truncate jobs');
    const body = {
      product: 'yearly',
      customer_email: 'new@example.com',
      note: ' press ',
      send_mail: true,
      reason: 'a review',
    };
    const answer = await admin.post(LICENSES, body);
    const { license_key: key, license, mail: outcome } = readBody(answer.body);
    assert.deepEqual([answer.status, outcome], [200, 'queued']);
    const shown = await showLicense(admin, String(Object(license).id));
    assert.deepEqual(
      [shown.product, shown.tier, shown.max_activations, shown.note, shown.expires_at],
      ['yearly', 'pro', 3, 'press', new Date(TEST_START.getTime() + 365 * DAY_MS).toISOString()],
    );
    assert.deepEqual(await listJobs(), [`send_license_key:${shown.id}`]);
    await activate(service, String(key));
  });

  test('takes an end, a limit and a checkout', async () => {
    const body = { product: 'personal', days: 30, max_activations: 7, transaction_id: 'order-1' };
    const answer = await admin.post(LICENSES, body);
    const license = Object(readBody(answer.body)['license']);
    assert.deepEqual(
      [license.expires_at, license.max_activations, license.transaction_id],
      [new Date(TEST_START.getTime() + 30 * DAY_MS).toISOString(), 7, 'order-1'],
    );
  });

  test('rejects an unknown product, and two ends', async () => {
    const unknown = await admin.post(LICENSES, { product: 'gold' });
    assert.deepEqual(validationErrorsOf(unknown.body), [['body.product', 'value_error']]);
    const ends = await admin.post(LICENSES, { product: 'personal', days: 1, expires_at: null });
    assert.deepEqual(validationErrorsOf(ends.body), [['body.days', 'value_error']]);
  });
});

/** Problems of records and of keys are found in different steps. */
function sorted(answer: unknown) {
  const { problems, ...others } = Object(answer);
  return { ...others, problems: problems.toSorted(byLine) };
}

function byLine(a: { readonly line: number }, b: { readonly line: number }): number {
  return a.line - b.line;
}

describe('importing', () => {
  const csv = `license_key,product,customer_email
KEY-8QX7-PL2M-93VD-TT0Z,personal,import@example.com
KEY-8QX7-PL2M-93VD-TT0Z,personal,import@example.com
1234,personal,
KEY-55TR-9ZQ1-MM3X-0PLK,gold,
`;
  const problems = [
    {
      line: 4,
      problem:
        'The license_key can be guessed: import it with --allow-weak-keys, or issue a new key.',
    },
    { line: 5, problem: 'The product "gold" is not mapped to a product of the catalogue.' },
  ];

  test('validates without importing, then imports what is valid', async () => {
    const dry = await admin.post(`${LICENSES}/import`, { csv, dry_run: true });
    const counts = { created: 1, present: 1, failed: 2 };
    assert.deepEqual(sorted(dry.body), { dry_run: true, ...counts, problems });
    assert.deepEqual(await listLicenseIds(admin, 'email=import@example.com'), []);
    const real = await admin.post(`${LICENSES}/import`, { csv, dry_run: false, reason: 'moved' });
    assert.deepEqual(sorted(real.body), { dry_run: false, ...counts, problems });
    assert.equal((await listLicenseIds(admin, 'email=import@example.com')).length, 1);
    const { rows } = await service.pool.query(
      `select actor, reason, details ->> 'rows' as rows, details ->> 'new' as created from audit_log
       where action = 'license.import_finished'`,
    );
    const actor = `operator:${admin.email}`;
    assert.deepEqual(rows, [{ actor, reason: 'moved', rows: '4', created: '1' }]);
  });

  test('rejects text that is no CSV of licenses', async () => {
    for (const text of ['color\nred\n', 'license_key\n"open']) {
      const answer = await admin.post(`${LICENSES}/import`, { csv: text, dry_run: true });
      assert.deepEqual(validationErrorsOf(answer.body), [['body.csv', 'value_error']]);
    }
  });
});
