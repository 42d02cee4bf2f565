import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';

import { startTestService } from '../../../test/harness.ts';
import { activate, validate } from '../../../test/license-steps.ts';
import { testCatalog } from '../../../test/test-catalog.ts';
import { DAY_MS } from '../../../test/test-clock.ts';
import { licenseKeyLabel } from '../licenses/license-key.ts';
import { findLicense, type LicenseRecord } from '../licenses/queries/licenses.ts';
import { listAddedKeyHints } from '../licenses/queries/added-keys.ts';
import { rekeyLicense } from '../licenses/rekey-license.ts';
import { rotateMasterSecret } from '../master-secret/rotate-master-secret.ts';
import type { ForeignLicense } from './facts.ts';
import { runImport } from './import-steps.fixture.ts';
import { APRIL, CATALOG } from './provider-shops.fixture.ts';
import type { ImportReport } from './rules/report.ts';
import { undoImport } from './undo-import.ts';
import {
  deliver,
  findByKey,
  onlyLicenseId,
  openStory,
  rowOf,
  type Story,
} from './subscriber-story.fixture.ts';

const catalog = testCatalog(CATALOG);
const masterSecret = 'the first master secret of the tests';
const nextSecret = 'the second master secret of the tests';
const service = await startTestService({ catalog, masterSecret });
const { context, pool, clock } = service;
const csv = { source: 'csv' } as const;
const by = { actor: 'cli:test', reason: null };

before(() => {
  clock.set(APRIL);
});

async function requireLicense(id: string): Promise<LicenseRecord> {
  const license = await findLicense(pool, id);
  assert.ok(license);
  return license;
}

/** Returns the key that was generated for a license, and mailed. */
async function generatedKey(id: string): Promise<string> {
  const { keySealed } = await requireLicense(id);
  return context.vault.open(keySealed, licenseKeyLabel(id));
}

function outcomesOf({ outcomes }: ImportReport) {
  return Object.fromEntries(Object.entries(outcomes).filter(([, count]) => count > 0));
}

/** Renews a subscription here, then imports its row. */
async function importLate(story: Story, values: Partial<ForeignLicense> = {}) {
  await deliver(service, story, 'renewal');
  const id = await onlyLicenseId(service, story);
  const rehearsal = await runImport(context, [rowOf(story, values)], { ...csv, dryRun: true });
  assert.equal(await findByKey(service, story.licenseKey), null);
  const { importId, report } = await runImport(context, [rowOf(story, values)], csv);
  assert.deepEqual(report, rehearsal.report);
  assert.equal(await onlyLicenseId(service, story), id);
  return { id, report, importId: importId ?? '' };
}

describe('an imported key whose license a renewal created before', () => {
  test('works beside the key that was mailed, for new machines and for active ones', async () => {
    const story = openStory('beside');
    await deliver(service, story, 'renewal');
    const id = await onlyLicenseId(service, story);
    const mailed = await generatedKey(id);
    const first = await activate(service, mailed, { machine_id: 'first' });
    const { report } = await runImport(context, [rowOf(story)], csv);
    assert.deepEqual([outcomesOf(report), report.problems], [{ key_added: 1 }, []]);
    const second = await activate(service, story.licenseKey, { machine_id: 'second' });
    for (const key of [mailed, story.licenseKey.toLowerCase()]) {
      const one = await validate(service, key, first.activation_id, 'first');
      const two = await validate(service, key, second.activation_id, 'second');
      assert.deepEqual([one.valid, two.valid], [true, true]);
    }
    assert.deepEqual(await listAddedKeyHints(pool, id), [story.licenseKey.slice(-4)]);
    await deliver(service, story, 'purchase', 'update');
    assert.equal(await onlyLicenseId(service, story), id);
    assert.equal(await findByKey(service, story.licenseKey), id);
  });

  const names: Readonly<Record<string, (story: Story) => Partial<ForeignLicense>>> = {
    'the subscription': () => ({}),
    'the subscription, and the address instead of the provider': () => ({ provider: null }),
    'a transaction': ({ transactionId }) => ({
      subscriptionId: null,
      transactionId: `${transactionId}_2`,
    }),
    'an earlier transaction and its end': ({ transactionId }) => ({
      subscriptionId: null,
      transactionId,
    }),
  };
  for (const [name, toValues] of Object.entries(names)) {
    test(`is found by ${name}`, async () => {
      const story = openStory(name.replaceAll(/\W/gu, '-'));
      const { id, report } = await importLate(story, toValues(story));
      assert.deepEqual(outcomesOf(report), { key_added: 1 });
      assert.equal(await findByKey(service, story.licenseKey), id);
    });
  }

  test('is not added by an id alone that may be another provider’s', async () => {
    const story = openStory('other-shop');
    await deliver(service, story, 'renewal');
    const id = await onlyLicenseId(service, story);
    const row = rowOf(story, { provider: null, customerEmail: 'else@example.com' });
    const { report } = await runImport(context, [row], csv);
    assert.deepEqual(outcomesOf(report), { new: 1 });
    assert.notEqual(await findByKey(service, story.licenseKey), id);
  });

  test('is not added if the old system revoked it', async () => {
    const story = openStory('revoked');
    const { report } = await importLate(story, { status: 'revoked' });
    assert.deepEqual(outcomesOf(report), { conflict: 1 });
    assert.equal(await findByKey(service, story.licenseKey), null);
  });

  test('names what the customer has less here', async () => {
    const { report } = await importLate(openStory('less'), { maxActivations: 7 });
    assert.match(report.problems[0]?.problem ?? '', /machines is 5 here and 7 there/u);
  });

  test('brings the devices of the old system', async () => {
    const story = openStory('devices');
    const device = { id: 'old-laptop', label: null, lastSeenAt: null };
    const { id } = await importLate(story, { devices: [device] });
    const { rows } = await pool.query(
      'select instance_id from imported_seats where license_id = $1',
      [id],
    );
    assert.deepEqual(rows, [{ instance_id: 'old-laptop' }]);
  });

  test('ends with the generated key when the license gets a new one', async () => {
    const story = openStory('rekeyed');
    const { id } = await importLate(story);
    const mailed = await generatedKey(id);
    const request = { keyOrId: story.licenseKey, keepMachines: true, ...by, reason: 'it leaked' };
    const { licenseKey } = await rekeyLicense(context, request, async () => {});
    const found = [mailed, story.licenseKey, licenseKey].map((key) => findByKey(service, key));
    assert.deepEqual(await Promise.all(found), [null, null, id]);
    assert.deepEqual(await listAddedKeyHints(pool, id), []);
  });
});

describe('undoing an import that added a key', () => {
  test('removes the key and its devices, and the import can be repeated', async () => {
    const story = openStory('undone');
    const device = { id: 'old-laptop', label: null, lastSeenAt: null };
    const { id, importId } = await importLate(story, { devices: [device] });
    const earlier = await requireLicense(id);
    const result = await undoImport(context, { importId, ...by, dryRun: false });
    assert.deepEqual([result?.removed, result?.released], [0, 1]);
    assert.equal(await findByKey(service, story.licenseKey), null);
    assert.deepEqual(await requireLicense(id), earlier);
    const { rows } = await pool.query('select from imported_seats where license_id = $1', [id]);
    assert.deepEqual([rows.length, await listAddedKeyHints(pool, id)], [0, []]);
    const { report } = await runImport(context, [rowOf(story)], csv);
    assert.deepEqual(outcomesOf(report), { key_added: 1 });
  });

  test('keeps a key since whose import a machine was activated or validated', async () => {
    const story = openStory('used');
    clock.set(APRIL);
    await deliver(service, story, 'renewal');
    const mailed = await generatedKey(await onlyLicenseId(service, story));
    const { activation_id: activationId } = await activate(service, mailed, { machine_id: 'one' });
    clock.set(new Date(APRIL.getTime() + DAY_MS));
    const { importId } = await runImport(context, [rowOf(story)], csv);
    clock.set(new Date(APRIL.getTime() + 2 * DAY_MS));
    const request = { importId: importId ?? '', ...by, dryRun: true };
    assert.equal((await undoImport(context, request))?.released, 1);
    await validate(service, story.licenseKey, activationId, 'one');
    const result = await undoImport(context, { ...request, dryRun: false });
    assert.deepEqual([result?.released, result?.kept.activated], [0, 1]);
    assert.ok(await findByKey(service, story.licenseKey));
    clock.set(APRIL);
  });
});

// Afterwards this service has the previous secret.
test('an added key is found after a rotation of the master secret', async () => {
  const story = openStory('rotated');
  const { id } = await importLate(story);
  const next = { beside: service, catalog, previousSecrets: [masterSecret] };
  const rotated = await startTestService({ ...next, masterSecret: nextSecret });
  const result = await rotateMasterSecret(rotated.context, 'cli:test', () => {});
  assert.equal(result.licenses.failed, 0);
  const withoutPrevious = await startTestService({
    beside: service,
    catalog,
    masterSecret: nextSecret,
  });
  assert.equal(await findByKey(withoutPrevious, story.licenseKey), id);
});
