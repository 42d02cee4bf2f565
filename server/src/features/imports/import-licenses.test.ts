import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import { startTestService } from '../../../test/harness.ts';
import { activate } from '../../../test/license-steps.ts';
import { findLicenseIdByKey } from '../licenses/queries/license-keys.ts';
import { findLicense, type LicenseRecord } from '../licenses/queries/licenses.ts';
import { hashWithAllSecrets } from '../licenses/license-key.ts';
import { findOrigin } from './queries/imported-licenses.ts';
import { foreign, runImport } from './import-steps.fixture.ts';
import type { ImportReport } from './rules/report.ts';
import { showImport } from './show-imports.ts';

const service = await startTestService();
const { context, clock, pool } = service;

const NO_OUTCOMES = {
  new: 0,
  renewed: 0,
  same: 0,
  key_added: 0,
  conflict: 0,
  duplicate: 0,
  weak: 0,
  bad: 0,
  skipped: 0,
  unknown_product: 0,
};

function anyKey(): string {
  return randomUUID().toUpperCase();
}

function outcomesOf({ outcomes }: ImportReport) {
  return Object.fromEntries(Object.entries(outcomes).filter(([, count]) => count > 0));
}

async function licenseOf(licenseKey: string): Promise<LicenseRecord> {
  const id = await findLicenseIdByKey(pool, hashWithAllSecrets(context, licenseKey));
  const license = id === null ? null : await findLicense(pool, id);
  assert.ok(license, 'no license has the key');
  return license;
}

describe('importLicenses', () => {
  test('creates a license with all values of its source', async () => {
    const licenseKey = anyKey();
    const end = new Date(clock.now().getTime() + 40 * 86_400_000);
    const { importId, report } = await runImport(
      context,
      [
        foreign({
          sourceId: 'lic-1',
          licenseKey,
          customerEmail: 'Ann@Example.com',
          customerName: 'Ann',
          products: [{ id: '4711', name: 'Pro' }],
          maxActivations: 7,
          expiresAt: end,
          isSubscription: true,
          provider: 'paddle',
          transactionId: 'txn_old',
          subscriptionId: 'sub_old',
          note: 'moved',
          createdAt: new Date('2020-02-03T00:00:00Z'),
          details: { order_id: '17' },
        }),
      ],
      { pairs: [['4711', 'sellers']] },
    );
    assert.deepEqual(outcomesOf(report), { new: 1 });
    const license = await licenseOf(licenseKey);
    assert.deepEqual(
      [
        license.productId,
        license.customerEmail,
        license.customerName,
        license.maxActivations,
        license.expiresAt,
        license.subscription,
        license.note,
        license.createdAt,
      ],
      ['sellers', 'Ann@example.com', 'Ann', 7, end, true, 'moved', clock.now()],
    );
    const { rows: names } = await pool.query(
      'select kind, name, provider from license_names where license_id = $1 order by kind',
      [license.id],
    );
    assert.deepEqual(names, [
      { kind: 'subscription', name: 'sub_old', provider: 'paddle' },
      { kind: 'transaction', name: 'txn_old', provider: 'paddle' },
    ]);
    const origin = await findOrigin(pool, license.id);
    assert.deepEqual(origin, {
      source: 'gumroad',
      sourceId: 'lic-1',
      sourceCreatedAt: new Date('2020-02-03T00:00:00Z'),
      details: { order_id: '17' },
      importedAt: clock.now(),
    });
    const shown = await showImport(context, importId ?? '', 10);
    assert.deepEqual(
      shown?.licenses.map(({ sourceId, state }) => [sourceId, state]),
      [['lic-1', 'untouched']],
    );
    const { rows: audit } = await pool.query(
      'select action, reason, details from audit_log where subject_id = $1 order by sequence',
      [importId],
    );
    assert.deepEqual(audit, [
      {
        action: 'license.import',
        reason: 'the move',
        details: {
          source: 'gumroad',
          origin: 'sales.csv',
          send_keys: false,
          allow_weak_keys: false,
        },
      },
      {
        action: 'license.import_finished',
        reason: 'the move',
        details: { rows: 1, ...NO_OUTCOMES, new: 1 },
      },
    ]);
    const { rows: jobs } = await pool.query(`select from jobs where name = 'send_license_key'`);
    assert.equal(jobs.length, 0, 'an import sends no mail unless asked');
  });

  test('reports in a rehearsal what the import then does, and stores nothing', async () => {
    const taken = anyKey();
    const present = anyKey();
    await runImport(context, [
      foreign({ sourceId: 'old-1', licenseKey: taken }),
      foreign({ sourceId: 'old-2', licenseKey: present }),
    ]);
    const strong = anyKey();
    const rows = [
      foreign({ sourceId: 'r-1', licenseKey: strong }),
      foreign({ sourceId: 'r-2', licenseKey: strong.toLowerCase() }),
      foreign({ sourceId: 'r-1', licenseKey: anyKey() }),
      foreign({ sourceId: 'r-3', licenseKey: '12345' }),
      foreign({
        sourceId: 'r-4',
        licenseKey: anyKey(),
        products: [{ id: '9', name: 'Sellers 2' }],
      }),
      foreign({ sourceId: 'r-5', licenseKey: anyKey(), isTest: true }),
      foreign({ sourceId: 'r-6', licenseKey: 'x'.repeat(600) }),
      foreign({ sourceId: 'r-7', licenseKey: taken, products: [{ id: 'sellers', name: null }] }),
      foreign({ sourceId: 'old-2', licenseKey: present }),
      foreign({ sourceId: 'r-8', customerEmail: 'nobody' }),
    ];
    const before = await service.count('licenses');
    const rehearsal = await runImport(context, rows, { dryRun: true });
    assert.deepEqual([rehearsal.importId, await service.count('licenses')], [null, before]);
    assert.deepEqual(rehearsal.report, {
      source: 'gumroad',
      rows: 10,
      outcomes: {
        ...NO_OUTCOMES,
        new: 1,
        duplicate: 2,
        weak: 1,
        unknown_product: 1,
        skipped: 1,
        bad: 2,
        conflict: 1,
        same: 1,
      },
      products: { personal: 1 },
      notes: {
        without_address: 1,
        with_generated_key: 0,
        with_unknown_end: 0,
        not_usable: 0,
        more_devices_than_allowed: 0,
        seats: 0,
      },
      unknown_products: [{ id: '9', name: 'Sellers 2', rows: 1, suggestion: 'sellers' }],
      problems: [
        { line: 3, outcome: 'duplicate', problem: 'Row 2 has the same key or id.' },
        { line: 4, outcome: 'duplicate', problem: 'Row 2 has the same key or id.' },
        {
          line: 5,
          outcome: 'weak',
          problem:
            'The license_key can be guessed: import it with --allow-weak-keys, or issue a new key.',
        },
        {
          line: 6,
          outcome: 'unknown_product',
          problem: 'The product "9", "Sellers 2" is not mapped to a product of the catalogue.',
        },
        { line: 7, outcome: 'skipped', problem: 'The license belongs to a test mode.' },
        {
          line: 8,
          outcome: 'bad',
          problem:
            'The key has 600 characters; a license key has at most 512. Send the customer a new key.',
        },
        {
          line: 9,
          outcome: 'conflict',
          problem: 'A license of the product personal has the key already.',
        },
        {
          line: 11,
          outcome: 'bad',
          problem: 'The address of the customer is not an e-mail address.',
        },
      ],
      further_problems: 0,
    });
    assert.deepEqual((await runImport(context, rows)).report, rehearsal.report);
    assert.equal(await service.count('licenses'), before + 1);
  });

  test('refuses a key that a spreadsheet shortened, and lists an unknown product once', async () => {
    const products = [{ id: '9', name: null }];
    const { report } = await runImport(
      context,
      [
        foreign({ licenseKey: '1,23457E+19' }),
        foreign({ licenseKey: '1.2E+15' }),
        foreign({ licenseKey: anyKey(), products }),
        foreign({ licenseKey: anyKey(), products }),
      ],
      { dryRun: true },
    );
    const shortened =
      'The key is a number that a spreadsheet shortened: export the keys again, and do not save the file in the spreadsheet.';
    assert.deepEqual(
      report.problems.map(({ outcome, problem }) => [outcome, problem]),
      [
        ['bad', shortened],
        ['bad', shortened],
        ['unknown_product', 'The product "9" is not mapped to a product of the catalogue.'],
      ],
    );
    assert.deepEqual([report.outcomes.unknown_product, report.further_problems], [2, 0]);
  });

  test('creates a license once, extends it when the source renewed it, and changes nothing else', async () => {
    const end = new Date('2031-01-01T00:00:00Z');
    const license = foreign({
      sourceId: 'sub-1',
      licenseKey: anyKey(),
      expiresAt: end,
      isSubscription: true,
    });
    assert.deepEqual(outcomesOf((await runImport(context, [license])).report), { new: 1 });
    assert.deepEqual(outcomesOf((await runImport(context, [license])).report), { same: 1 });
    const earlier = { ...license, expiresAt: new Date('2030-01-01T00:00:00Z') };
    assert.deepEqual(outcomesOf((await runImport(context, [earlier])).report), { same: 1 });
    const later = { ...license, expiresAt: new Date('2032-01-01T00:00:00Z') };
    assert.deepEqual(outcomesOf((await runImport(context, [later])).report), { renewed: 1 });
    assert.deepEqual(outcomesOf((await runImport(context, [later])).report), { same: 1 });
    const { expiresAt } = await licenseOf(license.licenseKey ?? '');
    assert.deepEqual(expiresAt, later.expiresAt);
    const refunded = { ...later, status: 'refunded' as const };
    const { report } = await runImport(context, [refunded]);
    assert.deepEqual(report.problems, [
      {
        line: 2,
        outcome: 'conflict',
        problem:
          'It was imported before, and differs now: refunded is false here and true there. Change the license instead.',
      },
    ]);
  });

  test('takes the product of a price in the catalogue, and the term from the beginning of the license', async () => {
    const licenseKey = anyKey();
    const prices = [{ provider: 'paddle' as const, priceId: 'pri_01cccccccccccccccccccccccc' }];
    const createdAt = new Date('2026-01-01T00:00:00Z');
    await runImport(context, [
      foreign({ licenseKey, products: [], prices, expiresAt: 'unknown', createdAt, quantity: 2 }),
    ]);
    const { productId, maxActivations, expiresAt } = await licenseOf(licenseKey);
    assert.deepEqual(
      [productId, maxActivations, expiresAt],
      ['yearly', 6, new Date('2027-01-01T00:00:00Z')],
    );
  });

  test('finds a foreign key in any spelling unless its letters have both cases', async () => {
    await runImport(context, [
      foreign({ licenseKey: 'F4A29C1D-0B7E6A38-91C4D2E5-7780ABCD' }),
      foreign({ licenseKey: 'qX7mT2vL9pRzK4wN8sB3' }),
    ]);
    for (const licenseKey of [
      'F4A29C1D-0B7E6A38-91C4D2E5-7780ABCD',
      ' f4a29c1d 0b7e6a38 91c4d2e5 7780abcd ',
      'F4A29C1D0B7E6A3891C4D2E57780ABCD',
    ]) {
      const { activation_id: activationId } = await activate(service, licenseKey, {
        machine_id: 'one',
      });
      assert.ok(activationId, licenseKey);
    }
    const other = { license_key: 'QX7MT2VL9PRZK4WN8SB3', machine_fingerprint: { machine_id: 'x' } };
    assert.equal((await service.post('/api/v1/licenses/activate', other)).status, 404);
  });

  test('queues the keys of usable licenses with an address when asked', async () => {
    const keys = [anyKey(), anyKey(), anyKey()];
    const [usable, refunded, nobody] = keys.map((licenseKey) =>
      foreign({ licenseKey, customerEmail: 'bob@example.com' }),
    );
    assert.ok(usable && refunded && nobody);
    await runImport(
      context,
      [usable, { ...refunded, status: 'refunded' }, { ...nobody, customerEmail: null }],
      { sendKeys: true },
    );
    const { rows } = await pool.query(`select payload from jobs where name = 'send_license_key'`);
    const { id } = await licenseOf(usable.licenseKey ?? '');
    assert.deepEqual(
      rows.map(({ payload }) => payload.licenseId),
      [id],
    );
  });
});

describe('seats of the previous system', () => {
  const devices = [
    { id: 'old-laptop', label: 'Laptop', lastSeenAt: new Date('2026-05-01T00:00:00Z') },
    { id: 'old-desktop', label: null, lastSeenAt: new Date('2026-04-01T00:00:00Z') },
  ];

  test('are taken over by the first machines, the longest unused first, and lock nobody out', async () => {
    const licenseKey = anyKey();
    await runImport(context, [foreign({ licenseKey, maxActivations: 3, devices, usedSeats: 3 })]);
    const { id } = await licenseOf(licenseKey);
    const taken = [];
    for (const machine of ['a', 'b', 'c']) {
      const { activation_id: activationId } = await activate(service, licenseKey, {
        machine_id: machine,
      });
      const { rows } = await pool.query(
        'select instance_id from imported_seats where license_id = $1 and activation_id = $2',
        [id, activationId],
      );
      taken.push(rows[0]?.instance_id);
    }
    assert.deepEqual(taken, [null, 'old-desktop', 'old-laptop']);
    const fourth = { license_key: licenseKey, machine_fingerprint: { machine_id: 'd' } };
    const refused = await service.post('/api/v1/licenses/activate', fourth);
    assert.deepEqual(
      [refused.status, refused.text.includes('activation_limit_reached')],
      [409, true],
    );
    const { rows: moves } = await pool.query(
      'select count(*)::int as moves from activations where license_id = $1 and counts_as_move',
      [id],
    );
    assert.deepEqual(moves, [{ moves: 0 }]);
  });

  test('stop counting after 90 days: a new machine is then a move', async () => {
    const licenseKey = anyKey();
    await runImport(context, [foreign({ licenseKey, devices })]);
    clock.advance(90 * 86_400_000);
    await activate(service, licenseKey, { machine_id: 'late' });
    const { id } = await licenseOf(licenseKey);
    const { rows } = await pool.query(
      `select counts_as_move, (select count(*)::int from imported_seats s
         where s.license_id = a.license_id and activation_id is not null) as taken
       from activations a where license_id = $1`,
      [id],
    );
    assert.deepEqual(rows, [{ counts_as_move: true, taken: 0 }]);
  });
});
