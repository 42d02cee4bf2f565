import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import { isolateFailures } from '#server/db/batching/isolate-failures.ts';

import { openTestPool } from '../../../../test/database-pool.ts';
import { freshProofRange, parseProof } from '../../entitlements/issue-entitlement.ts';
import { decideValidation } from '../rules/decide-validation.ts';
import {
  bindMachine,
  countValidations,
  recordValidations,
  type ValidationRecord,
  type ValidationRequest,
} from './validations.ts';

const pool = await openTestPool();
const NOW = new Date('2027-03-01T12:00:00.250Z');
const AT_NOW = { now: NOW, freshProofs: freshProofRange(NOW) };
const NOW_SECONDS = Math.floor(NOW.getTime() / 1000);

type Facts = Readonly<Record<string, Date | boolean>>;

/** A license with one activation on the machine `mine`; its validation is valid and its token fresh. */
async function addActivation(
  license: Facts = {},
  activation: Readonly<Record<string, unknown>> = {},
) {
  const [licenseId, activationId, keyHash] = [randomUUID(), randomUUID(), randomBytes(32)];
  await insert('licenses', {
    id: licenseId,
    product_id: 'personal',
    tier: 'personal',
    features: [],
    max_activations: 2,
    key_sealed: Buffer.alloc(0),
    key_hint: 'hint',
    created_at: NOW,
    ...license,
  });
  await insert('license_keys', { key_hash: keyHash, license_id: licenseId });
  await insert('activations', {
    license_id: licenseId,
    id: activationId,
    machine_id: 'mine',
    components: {},
    machine_digest: '',
    activated_at: NOW,
    last_validated_at: new Date(0),
    versions_reported_at: NOW,
    entitlement_proof: proofOf(NOW_SECONDS),
    ...activation,
  });
  return { ...requestFor({ keyHash: keyHash.toString('hex'), activationId }), licenseId };
}

async function insert(table: string, row: Readonly<Record<string, unknown>>): Promise<void> {
  const names = Object.keys(row);
  await pool.query(
    `insert into ${table} (${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    Object.values(row),
  );
}

function proofOf(issuedAt: number): string {
  return `${issuedAt}.${'j'.repeat(22)}.${'s'.repeat(86)}`;
}

function requestFor(fields: Partial<ValidationRequest>): ValidationRequest {
  const unknown = { keyHash: '00'.repeat(32), activationId: randomUUID(), machineId: 'mine' };
  return { ...unknown, installId: null, usageSharing: null, ...fields };
}

async function readActivation(id: string) {
  const { rows } = await pool.query<Record<string, unknown>>(
    `select validation_count as count, last_validated_at as at, install_id, usage_sharing,
            usage_sharing_reported_at as reported_at, entitlement_proof as proof
     from activations where id = $1`,
    [id],
  );
  return rows[0];
}

async function countOne(request: ValidationRequest): Promise<boolean> {
  const [facts] = await countValidations(pool, [request], AT_NOW);
  assert.ok(facts);
  return facts.isCounted;
}

describe('countValidations', () => {
  test('counts a valid request with a fresh token, and stores what the client reported', async () => {
    const installId = randomUUID();
    const request = { ...(await addActivation()), installId, usageSharing: false };
    assert.equal(await countOne(request), true);
    assert.deepEqual(await readActivation(request.activationId), {
      count: 1,
      at: NOW,
      install_id: installId,
      usage_sharing: false,
      reported_at: NOW,
      proof: proofOf(NOW_SECONDS),
    });
    await countOne({ ...request, installId: null, usageSharing: null });
    assert.deepEqual(await readActivation(request.activationId), {
      count: 2,
      at: NOW,
      install_id: installId,
      usage_sharing: false,
      reported_at: NOW,
      proof: proofOf(NOW_SECONDS),
    });
  });

  test('returns the facts of a counted request', async () => {
    const expires = new Date(NOW.getTime() + 1);
    const request = await addActivation({ trial: true, subscription: true, expires_at: expires });
    const [facts] = await countValidations(pool, [request], AT_NOW);
    const { license, activation, ...rest } = facts ?? {};
    assert.deepEqual(rest, { isCounted: true, decidedAt: NOW });
    assert.deepEqual(
      [license?.productId, license?.trial, license?.subscription, license?.expiresAt],
      ['personal', true, true, expires],
    );
    assert.deepEqual(activation, {
      id: request.activationId,
      licenseId: license?.id,
      machineId: 'mine',
      deactivatedAt: null,
      entitlementProof: proofOf(NOW_SECONDS),
    });
  });

  test('returns facts for each request in their order, null for an unknown key', async () => {
    const known = await Promise.all([addActivation(), addActivation(), addActivation()]);
    const requests = [requestFor({}), ...known, requestFor({ keyHash: known[0]?.keyHash ?? '' })];
    const results = await countValidations(pool, requests, AT_NOW);
    assert.deepEqual(
      results.map((facts) => facts && (facts.activation?.id ?? 'none')),
      [null, ...known.map(({ activationId }) => activationId), 'none'],
    );
  });

  test('counts one of several requests about one activation, and leaves the others', async () => {
    const request = await addActivation();
    const results = await countValidations(pool, [request, request, request], AT_NOW);
    assert.deepEqual(
      results.map((facts) => facts?.isCounted),
      [true, false, false],
    );
    assert.equal((await readActivation(request.activationId))?.['count'], 1);
  });

  test('accepts machine ids of any characters', async () => {
    for (const machineId of ['', 'NULL', '{"a\\b",}', "'; --", 'Rechner für Ümläute\n\t🖥']) {
      const request = { ...(await addActivation({}, { machine_id: machineId })), machineId };
      assert.equal(await countOne(request), true, machineId);
      assert.equal(await countOne({ ...request, machineId: `${machineId} ` }), false, machineId);
    }
  });

  test('counts exactly the validations that are valid by the rules with a fresh token and without rare timestamps', async () => {
    const offsets = fc.constantFrom(-20 * 86_400_000, -1, 0, 1, 86_400_000);
    const timestamp = fc.option(
      offsets.map((ms) => new Date(NOW.getTime() + ms)),
      { nil: undefined, freq: 1 },
    );
    const rarely = fc.oneof(
      { weight: 8, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: timestamp },
    );
    const license = fc.record({
      subscription: fc.boolean(),
      trial: fc.boolean(),
      expires_at: timestamp,
      cancel_scheduled_for: rarely,
      canceled_at: rarely,
      paused_at: rarely,
      suspended_at: rarely,
      disputed_at: rarely,
      refunded_at: rarely,
      revoked_at: rarely,
    });
    const activation = fc.record({
      machine_id: fc.constantFrom('mine', 'mine', 'mine', 'other', undefined),
      deactivated_at: rarely,
      entitlement_proof: fc.constantFrom(
        ...[0, 1, -3599, -3600, -1].map((seconds) => proofOf(NOW_SECONDS + seconds)),
        undefined,
      ),
    });
    const property = fc.asyncProperty(license, activation, async (columns, row) => {
      const request = await addActivation(defined(columns), {
        machine_id: null,
        entitlement_proof: null,
        ...defined(row),
      });
      const [facts] = await countValidations(pool, [request], AT_NOW);
      assert.ok(facts);
      const decision = decideValidation(facts.license, facts.activation, 'mine', NOW);
      const issuedAt = parseProof(row.entitlement_proof ?? null)?.issuedAt ?? 0;
      const isFresh = issuedAt <= NOW_SECONDS && issuedAt > NOW_SECONDS - 3600;
      const isPlain = Object.entries({ ...columns, ...row }).every(
        ([name, value]) => !/_at$|_for$/.test(name) || name === 'expires_at' || value === undefined,
      );
      const isActive =
        decision.valid && decision.status === 'active' && decision.bindMachineId === null;
      assert.equal(facts.isCounted, isActive && isFresh && isPlain);
      const stored = await readActivation(request.activationId);
      assert.equal(stored?.['count'], facts.isCounted ? 1 : 0);
    });
    await fc.assert(property, { numRuns: 150 });
  });
});

/** Returns distinct timestamps with milliseconds. */
function later(index: number): Date {
  return new Date(NOW.getTime() + index * 1001);
}

function recordOf(
  { licenseId, activationId }: Pick<ValidationRecord, 'licenseId' | 'activationId'>,
  more: Partial<ValidationRecord> = {},
): ValidationRecord {
  const unchanged = { installId: null, usageSharing: null, newProof: null, isCounted: false };
  return { licenseId, activationId, ...unchanged, ...more };
}

describe('recordValidations', () => {
  test('counts several answers about one activation, and stores the last value of each', async () => {
    const activation = await addActivation();
    const [one, two] = [randomUUID(), randomUUID()];
    const at = new Date(NOW.getTime() + 5);
    const records = [
      recordOf(activation, { installId: one, usageSharing: true }),
      recordOf(activation, { installId: two, newProof: '1.a-_.B' }),
      recordOf(activation, { usageSharing: false }),
    ];
    assert.deepEqual(await recordValidations(pool, records, at), new Set());
    assert.deepEqual(await readActivation(activation.activationId), {
      count: 3,
      at,
      install_id: two,
      usage_sharing: false,
      reported_at: at,
      proof: '1.a-_.B',
    });
  });

  test('stores the time of the last report of usage sharing', async () => {
    const activation = await addActivation();
    const reported: unknown[] = [];
    for (const [index, usageSharing] of [null, false, false, null, true].entries()) {
      await recordValidations(pool, [recordOf(activation, { usageSharing })], later(index));
      reported.push((await readActivation(activation.activationId))?.['reported_at']);
    }
    assert.deepEqual(reported, [null, later(1), later(2), later(2), later(4)]);
  });

  test('keeps the last validation when the clock was set back', async () => {
    const activation = await addActivation();
    await recordValidations(pool, [recordOf(activation)], NOW);
    await recordValidations(pool, [recordOf(activation)], new Date(1));
    assert.deepEqual((await readActivation(activation.activationId))?.['at'], NOW);
  });

  test('does not count an inactive, an unknown, or another license’s activation', async () => {
    const [good, inactive] = [
      await addActivation(),
      await addActivation({}, { deactivated_at: NOW }),
    ];
    const unknown = { ...good, activationId: randomUUID() };
    const mixed = { ...good, licenseId: inactive.licenseId };
    const records = [inactive, good, unknown].map((activation) => recordOf(activation));
    assert.deepEqual(
      await recordValidations(pool, records, NOW),
      new Set([inactive.activationId, unknown.activationId]),
    );
    await recordValidations(pool, [recordOf(mixed)], NOW);
    assert.equal((await readActivation(inactive.activationId))?.['count'], 0);
    assert.equal((await readActivation(good.activationId))?.['count'], 1);
  });

  test('counts each activation as often as the batch contains it', async () => {
    const activations = await Promise.all(Array.from({ length: 5 }, () => addActivation()));
    const expected = activations.map(() => 0);
    const batches = fc.array(fc.nat({ max: activations.length - 1 }), {
      minLength: 1,
      maxLength: 256,
    });
    const property = fc.asyncProperty(batches, async (batch) => {
      const records = batch.flatMap((index) => {
        const activation = activations[index];
        return activation === undefined ? [] : [recordOf(activation)];
      });
      assert.deepEqual(await recordValidations(pool, records, NOW), new Set());
      for (const index of batch) expected[index] = (expected[index] ?? 0) + 1;
    });
    await fc.assert(property, { numRuns: 30, endOnFailure: true });
    const counts = activations.map(
      async (each) => (await readActivation(each.activationId))?.['count'],
    );
    assert.deepEqual(await Promise.all(counts), expected);
  });

  test('one record that PostgreSQL rejects fails alone among 100, and the others are counted once', async () => {
    const activation = await addActivation();
    const records = Array.from({ length: 100 }, (_, index) =>
      recordOf(index === 61 ? { ...activation, activationId: 'no uuid' } : activation),
    );
    const results = await isolateFailures(records, async (part) => {
      await recordValidations(pool, part, NOW);
      return part;
    });
    assert.deepEqual(
      results.map((result) => result.ok),
      records.map((_, index) => index !== 61),
    );
    assert.equal((await readActivation(activation.activationId))?.['count'], 99);
  });
});

async function readMachineId(id: string): Promise<unknown> {
  const { rows } = await pool.query('select machine_id from activations where id = $1', [id]);
  return rows[0]?.machine_id;
}

describe('bindMachine', () => {
  test('binds an unbound activation once', async () => {
    const { licenseId, activationId } = await addActivation({}, { machine_id: null });
    assert.equal(await bindMachine(pool, licenseId, activationId, 'first'), true);
    assert.equal(await bindMachine(pool, licenseId, activationId, 'second'), false);
    assert.equal(await bindMachine(pool, licenseId, activationId, 'first'), false);
    assert.equal(await readMachineId(activationId), 'first');
  });

  test('needs the license of the activation', async () => {
    const { activationId } = await addActivation({}, { machine_id: null });
    assert.equal(await bindMachine(pool, randomUUID(), activationId, 'other'), false);
    assert.equal(await readMachineId(activationId), null);
  });
});

function defined<Value>(
  fields: Readonly<Record<string, Value | undefined>>,
): Record<string, Value> {
  const entries = Object.entries(fields).flatMap(([name, value]): [string, Value][] =>
    value === undefined ? [] : [[name, value]],
  );
  return Object.fromEntries(entries);
}
