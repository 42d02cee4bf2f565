import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import { openTestPool } from '../../../../test/database-pool.ts';
import { findLicensesByKeys } from './find-by-key.ts';

const pool = await openTestPool();
const NOW = new Date('2027-03-01T12:00:00.250Z');

/** Inserts a license with one activation. */
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
    `insert into activations (license_id, id, machine_id, components, machine_digest, activated_at, last_validated_at,
                              versions_reported_at)
     values ($1, $2, 'the machine', '{}', '', $3, $3, $3)`,
    [licenseId, activationId, NOW],
  );
  return { licenseId, activationId, keyHash: keyHash.toString('hex') };
}

/** Returns distinct timestamps with milliseconds. */
function timestamp(index: number): Date {
  return new Date(NOW.getTime() + index * 1001);
}

const UNKNOWN = { keyHash: '00'.repeat(32), activationId: null };

describe('findLicensesByKeys', () => {
  test('returns nothing for no lookups', async () => {
    assert.deepEqual(await findLicensesByKeys(pool, []), []);
  });

  test('returns every fact of a license to the millisecond', async () => {
    const { licenseId, activationId, keyHash } = await addLicense({
      trial: true,
      subscription: true,
      expires_at: timestamp(1),
      updates_until: timestamp(10),
      cancel_scheduled_for: timestamp(2),
      canceled_at: timestamp(3),
      paused_at: timestamp(4),
      suspended_at: timestamp(5),
      disputed_at: timestamp(9),
      refunded_at: timestamp(6),
      revoked_at: timestamp(7),
    });
    await pool.query(
      `update activations set deactivated_at = $2, entitlement_proof = 'proof' where id = $1`,
      [activationId, timestamp(8)],
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
        expiresAt: timestamp(1),
        updatesUntil: timestamp(10),
        cancelScheduledFor: timestamp(2),
        canceledAt: timestamp(3),
        pausedAt: timestamp(4),
        suspendedAt: timestamp(5),
        disputedAt: timestamp(9),
        refundedAt: timestamp(6),
        revokedAt: timestamp(7),
      },
      activation: {
        id: activationId,
        licenseId,
        machineId: 'the machine',
        deactivatedAt: timestamp(8),
        entitlementProof: 'proof',
      },
    });
  });

  test('returns the earliest and latest dates of the interface', async () => {
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

  test('returns one result for each lookup in order, however they repeat', async () => {
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
