import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import { openTestPool } from '../../../../test/database-pool.ts';
import { freshProofs, parseProof } from '../../entitlements/proof.ts';
import { decideValidation } from '../rules/decide-validation.ts';
import { countValidations, type ValidationQuestion } from './count-validations.ts';

const pool = await openTestPool();
const NOW = new Date('2027-03-01T12:00:00.250Z');
const MOMENT = { now: NOW, freshProofs: freshProofs(NOW) };
const NOW_SECONDS = Math.floor(NOW.getTime() / 1000);

type Facts = Readonly<Record<string, Date | boolean>>;

/** A license with one activation on the machine `mine`; its question is valid and its token fresh. */
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
    entitlement_proof: proofOf(NOW_SECONDS),
    ...activation,
  });
  return ask({ keyHash: keyHash.toString('hex'), activationId });
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

function ask(question: Partial<ValidationQuestion>): ValidationQuestion {
  const unknown = { keyHash: '00'.repeat(32), activationId: randomUUID(), machineId: 'mine' };
  return { ...unknown, installId: null, usageSharing: null, ...question };
}

async function readActivation(id: string) {
  const { rows } = await pool.query<Record<string, unknown>>(
    `select validation_count as count, last_validated_at as at, install_id, usage_sharing,
            usage_sharing_told_at as reported_at
     from activations where id = $1`,
    [id],
  );
  return rows[0];
}

async function countOne(question: ValidationQuestion): Promise<boolean> {
  const [finding] = await countValidations(pool, [question], MOMENT);
  assert.ok(finding);
  return finding.isCounted;
}

describe('countValidations', () => {
  test('counts a valid question with a fresh token, and stores what the client reported', async () => {
    const installId = randomUUID();
    const question = { ...(await addActivation()), installId, usageSharing: false };
    assert.equal(await countOne(question), true);
    assert.deepEqual(await readActivation(question.activationId), {
      count: 1,
      at: NOW,
      install_id: installId,
      usage_sharing: false,
      reported_at: NOW,
    });
    await countOne({ ...question, installId: null, usageSharing: null });
    assert.deepEqual(await readActivation(question.activationId), {
      count: 2,
      at: NOW,
      install_id: installId,
      usage_sharing: false,
      reported_at: NOW,
    });
  });

  test('returns the facts of a counted question', async () => {
    const expires = new Date(NOW.getTime() + 1);
    const question = await addActivation({ trial: true, subscription: true, expires_at: expires });
    const [finding] = await countValidations(pool, [question], MOMENT);
    const { license, activation, ...rest } = finding ?? {};
    assert.deepEqual(rest, { isCounted: true, decidedAt: NOW });
    assert.deepEqual(
      [license?.productId, license?.trial, license?.subscription, license?.expiresAt],
      ['personal', true, true, expires],
    );
    assert.deepEqual(activation, {
      id: question.activationId,
      licenseId: license?.id,
      machineId: 'mine',
      deactivatedAt: null,
      entitlementProof: proofOf(NOW_SECONDS),
    });
  });

  test('returns one finding for each question in their order, null for an unknown key', async () => {
    const known = await Promise.all([addActivation(), addActivation(), addActivation()]);
    const questions = [ask({}), ...known, ask({ keyHash: known[0]?.keyHash ?? '' })];
    const findings = await countValidations(pool, questions, MOMENT);
    assert.deepEqual(
      findings.map((finding) => finding && (finding.activation?.id ?? 'none')),
      [null, ...known.map(({ activationId }) => activationId), 'none'],
    );
  });

  test('counts one of several questions about one activation, and leaves the others', async () => {
    const question = await addActivation();
    const findings = await countValidations(pool, [question, question, question], MOMENT);
    assert.deepEqual(
      findings.map((finding) => finding?.isCounted),
      [true, false, false],
    );
    assert.equal((await readActivation(question.activationId))?.['count'], 1);
  });

  test('takes machine ids of any characters', async () => {
    for (const machineId of ['', 'NULL', '{"a\\b",}', "'; --", 'Rechner für Ümläute\n\t🖥']) {
      const question = { ...(await addActivation({}, { machine_id: machineId })), machineId };
      assert.equal(await countOne(question), true, machineId);
      assert.equal(await countOne({ ...question, machineId: `${machineId} ` }), false, machineId);
    }
  });

  test('counts exactly what the rules call valid with a fresh token, unless an exception is recorded', async () => {
    const offsets = fc.constantFrom(-20 * 86_400_000, -1, 0, 1, 86_400_000);
    const moment = fc.option(
      offsets.map((ms) => new Date(NOW.getTime() + ms)),
      { nil: undefined, freq: 1 },
    );
    const rarely = fc.oneof(
      { weight: 8, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: moment },
    );
    const license = fc.record({
      subscription: fc.boolean(),
      trial: fc.boolean(),
      expires_at: moment,
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
    const property = fc.asyncProperty(license, activation, async (facts, row) => {
      const question = await addActivation(defined(facts), {
        machine_id: null,
        entitlement_proof: null,
        ...defined(row),
      });
      const [finding] = await countValidations(pool, [question], MOMENT);
      assert.ok(finding);
      const decision = decideValidation(finding.license, finding.activation, 'mine', NOW);
      const issuedAt = parseProof(row.entitlement_proof ?? null)?.issuedAt ?? 0;
      const isFresh = issuedAt <= NOW_SECONDS && issuedAt > NOW_SECONDS - 3600;
      const isPlain = Object.entries({ ...facts, ...row }).every(
        ([name, value]) => !/_at$|_for$/.test(name) || name === 'expires_at' || value === undefined,
      );
      const isActive =
        decision.valid && decision.status === 'active' && decision.bindMachineId === null;
      assert.equal(finding.isCounted, isActive && isFresh && isPlain);
      const stored = await readActivation(question.activationId);
      assert.equal(stored?.['count'], finding.isCounted ? 1 : 0);
    });
    await fc.assert(property, { numRuns: 150 });
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
