import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import { isolateFailures } from '#server/db/batching/isolate-failures.ts';

import { openTestPool } from '../../../../test/database-pool.ts';
import { findLicensesByKeys } from './find-by-key.ts';
import { recordValidationsOf, type ValidationRecord } from './record-validations.ts';

const pool = await openTestPool();
const NOW = new Date('2027-03-01T12:00:00.250Z');

/** A license with one activation, straight in the database. */
async function addLicense(facts: Readonly<Record<string, Date | boolean>> = {}) {
  const [licenseId, activationId, keyHash] = [randomUUID(), randomUUID(), randomBytes(32)];
  const names = Object.keys(facts);
  await pool.query(
    `insert into licenses (id, product_id, tier, features, max_activations, key_sealed, key_hint, created_at
                           ${names.map((name) => `, ${name}`).join('')})
     values ($1, 'personal', 'personal', '{}', 2, '\\x', 'hint', now()
             ${names.map((_, index) => `, $${index + 2}`).join('')})`,
    [licenseId, ...Object.values(facts)],
  );
  await pool.query('insert into license_keys values ($1, $2)', [keyHash, licenseId]);
  await pool.query(
    `insert into activations (license_id, id, machine_id, components, machine_digest, activated_at, last_validated_at)
     values ($1, $2, 'the machine', '{}', '', $3, $3)`,
    [licenseId, activationId, NOW],
  );
  return { licenseId, activationId, keyHash: keyHash.toString('hex') };
}

async function readActivation(id: string) {
  const { rows } = await pool.query<Record<string, unknown>>(
    `select validation_count as count, last_validated_at as at, install_id, usage_sharing,
            usage_sharing_told_at as told_at, entitlement_proof as proof
     from activations where id = $1`,
    [id],
  );
  return rows[0];
}

/** Moments that are told apart to the millisecond. */
function moment(index: number): Date {
  return new Date(NOW.getTime() + index * 1001);
}

function record(
  { licenseId, activationId }: { licenseId: string; activationId: string },
  more: Partial<ValidationRecord> = {},
): ValidationRecord {
  const unchanged = { installId: null, usageSharing: null, freshProof: null, isCounted: false };
  return { licenseId, activationId, ...unchanged, ...more };
}

const UNKNOWN = { keyHash: '00'.repeat(32), activationId: null };

describe('findLicensesByKeys', () => {
  test('no lookup, no answer', async () => {
    assert.deepEqual(await findLicensesByKeys(pool, []), []);
  });

  test('every fact of a license, to the millisecond', async () => {
    const { licenseId, activationId, keyHash } = await addLicense({
      trial: true,
      subscription: true,
      expires_at: moment(1),
      cancel_scheduled_for: moment(2),
      canceled_at: moment(3),
      paused_at: moment(4),
      suspended_at: moment(5),
      disputed_at: moment(9),
      refunded_at: moment(6),
      revoked_at: moment(7),
    });
    await pool.query(
      `update activations set deactivated_at = $2, entitlement_proof = 'proof' where id = $1`,
      [activationId, moment(8)],
    );
    const [found] = await findLicensesByKeys(pool, [
      { keyHash, activationId: activationId.toUpperCase() },
    ]);
    assert.deepEqual(found, {
      license: {
        id: licenseId,
        productId: 'personal',
        trial: true,
        subscription: true,
        expiresAt: moment(1),
        cancelScheduledFor: moment(2),
        canceledAt: moment(3),
        pausedAt: moment(4),
        suspendedAt: moment(5),
        disputedAt: moment(9),
        refundedAt: moment(6),
        revokedAt: moment(7),
      },
      activation: {
        id: activationId,
        licenseId,
        machineId: 'the machine',
        deactivatedAt: moment(8),
        entitlementProof: 'proof',
      },
    });
  });

  test('dates at the ends of what the interface takes', async () => {
    for (const text of [
      '0001-01-01T00:00:00.000Z',
      '1969-12-31T23:59:59.999Z',
      '9999-12-31T23:59:59.999Z',
    ]) {
      const { keyHash } = await addLicense({
        expires_at: new Date(text),
        paused_at: new Date(text),
      });
      const [found] = await findLicensesByKeys(pool, [{ keyHash, activationId: null }]);
      assert.equal(found?.license.expiresAt?.toISOString(), text);
      assert.equal(found?.license.pausedAt?.toISOString(), text);
    }
  });

  test('whatever is asked, in whatever order and how often: one answer each, in order', async () => {
    const known = await Promise.all([addLicense(), addLicense(), addLicense()]);
    const [first, second] = known;
    assert.ok(first && second);
    const choices = [
      ...known.map(({ keyHash, activationId }) => ({ keyHash, activationId })),
      { keyHash: first.keyHash, activationId: null },
      { keyHash: first.keyHash, activationId: second.activationId },
      { keyHash: second.keyHash, activationId: '00000000-0000-0000-0000-000000000000' },
      UNKNOWN,
      { ...UNKNOWN, activationId: first.activationId },
    ];
    const owners = new Map(known.map(({ keyHash, licenseId }) => [keyHash, licenseId]));
    const lookups = fc.array(fc.constantFrom(...choices), { maxLength: 300 });
    const property = fc.asyncProperty(lookups, async (asked) => {
      const found = await findLicensesByKeys(pool, asked);
      assert.equal(found.length, asked.length);
      asked.forEach(({ keyHash, activationId }, index) => {
        assert.equal(found[index]?.license.id, owners.get(keyHash));
        const own = known.find((each) => each.keyHash === keyHash)?.activationId;
        const expected = own !== undefined && own === activationId ? own : undefined;
        assert.equal(found[index]?.activation?.id, expected);
      });
    });
    await fc.assert(property, { numRuns: 30 });
  });
});

describe('recordValidationsOf', () => {
  test('several answers about one activation are all counted; the last that says something is kept', async () => {
    const license = await addLicense();
    const [one, two] = [randomUUID(), randomUUID()];
    const later = new Date(NOW.getTime() + 5);
    const records = [
      record(license, { installId: one, usageSharing: true }),
      record(license, { installId: two, freshProof: '1.a-_.B' }),
      record(license, { usageSharing: false }),
    ];
    assert.deepEqual(await recordValidationsOf(pool, records, later), new Set());
    assert.deepEqual(await readActivation(license.activationId), {
      count: 3,
      at: later,
      install_id: two,
      usage_sharing: false,
      told_at: later,
      proof: '1.a-_.B',
    });
  });

  test('when usage was told to be shared, or not, is noted at each validation that tells it, and at no other', async () => {
    const license = await addLicense();
    const told: unknown[] = [];
    for (const [index, usageSharing] of [null, false, false, null, true].entries()) {
      await recordValidationsOf(pool, [record(license, { usageSharing })], moment(index));
      told.push((await readActivation(license.activationId))?.['told_at']);
    }
    assert.deepEqual(told, [null, moment(1), moment(2), moment(2), moment(4)]);
  });

  test('a clock that was set back does not set the last validation back', async () => {
    const license = await addLicense();
    await recordValidationsOf(pool, [record(license)], new Date(0));
    assert.deepEqual((await readActivation(license.activationId))?.['at'], NOW);
  });

  test('one that was deactivated meanwhile, one that never was, one under another license: not counted', async () => {
    const [good, gone] = [await addLicense(), await addLicense()];
    await pool.query('update activations set deactivated_at = now() where id = $1', [
      gone.activationId,
    ]);
    const stranger = { ...good, activationId: randomUUID() };
    const mixed = { ...good, licenseId: gone.licenseId };
    const inactive = await recordValidationsOf(
      pool,
      [record(gone), record(good), record(stranger)],
      NOW,
    );
    assert.deepEqual(inactive, new Set([gone.activationId, stranger.activationId]));
    await recordValidationsOf(pool, [record(mixed)], NOW);
    assert.equal((await readActivation(gone.activationId))?.['count'], 0);
    assert.equal((await readActivation(good.activationId))?.['count'], 1);
  });

  test('whatever the batch: each activation is counted as often as it is in there', async () => {
    const licenses = await Promise.all(Array.from({ length: 5 }, () => addLicense()));
    const expected = licenses.map(() => 0);
    const batches = fc.array(fc.nat({ max: licenses.length - 1 }), {
      minLength: 1,
      maxLength: 256,
    });
    const property = fc.asyncProperty(batches, async (batch) => {
      const records = batch.flatMap((index) => {
        const license = licenses[index];
        return license === undefined ? [] : [record(license)];
      });
      assert.deepEqual(await recordValidationsOf(pool, records, NOW), new Set());
      for (const index of batch) expected[index] = (expected[index] ?? 0) + 1;
    });
    await fc.assert(property, { numRuns: 30, endOnFailure: true });
    const counts = licenses.map(
      async (each) => (await readActivation(each.activationId))?.['count'],
    );
    assert.deepEqual(await Promise.all(counts), expected);
  });

  test('one that PostgreSQL refuses fails alone among 100, and the others are counted once', async () => {
    const license = await addLicense();
    const records = Array.from({ length: 100 }, (_, index) =>
      record(index === 61 ? { ...license, activationId: 'no uuid' } : license),
    );
    const results = await isolateFailures(records, async (part) => {
      await recordValidationsOf(pool, part, NOW);
      return part;
    });
    assert.deepEqual(
      results.map((result) => result.ok),
      records.map((_, index) => index !== 61),
    );
    assert.equal((await readActivation(license.activationId))?.['count'], 99);
  });
});
