import assert from 'node:assert/strict';
import { test } from 'node:test';

import { PublicJwk } from '@latchkey/contract';
import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { checkSigningKeys } from '#server/features/doctor/check-secrets.ts';
import { exportSigningKey, generateSigningKey } from '#server/features/entitlements/signing-key.ts';
import {
  revokeSigningKey,
  rotateSigningKey,
} from '#server/features/entitlements/rotate-signing-key.ts';
import { createVault } from '#server/lib/vault.ts';

import { verifyEntitlement } from '../entitlements.ts';
import { startTestService, type TestService } from '../harness.ts';
import { activate, anyMachine, startTrial } from '../license-steps.ts';
import { SECOND_MS } from '../test-clock.ts';

const KeySet = Type.Object({ keys: Type.Array(PublicJwk) });

async function publishedIds(service: TestService): Promise<string[]> {
  const { body } = await service.get('/.well-known/jwks.json');
  return Parse(KeySet, body).keys.map(({ kid }) => kid);
}

async function rotate({ context, clock }: TestService): Promise<string> {
  clock.advance(SECOND_MS);
  const change = { actor: 'test', reason: 'a test' };
  return (await rotateSigningKey(context, { immediately: true }, change)).kid;
}

function signingKid({ context, clock }: TestService): string {
  return context.signingKeys.current(clock.now()).publicJwk.kid;
}

function rejectedIds({ log }: TestService): unknown[] {
  return log
    .map((line): { event?: unknown; kid?: unknown } => JSON.parse(line))
    .filter(({ event }) => event === 'signing_key.rejected')
    .map(({ kid }) => kid);
}

test('a row written without the master secret is neither published nor used for signing', async () => {
  const service = await startTestService();
  const [good = ''] = await publishedIds(service);
  const stranger = generateSigningKey();
  const strangerKid = stranger.publicJwk.kid;
  const label = `signing-key ${strangerKid}`;
  const sealed = createVault('the master secret of an attacker').seal(
    exportSigningKey(stranger),
    label,
  );
  await service.pool.query(
    `insert into signing_keys (kid, private_key_sealed, created_at, active_from)
     values ($1, $2, now(), now())`,
    [strangerKid, sealed],
  );
  // The seal of the good key under another name.
  await service.pool.query(
    `insert into signing_keys (kid, private_key_sealed, created_at, active_from)
     select 'another', private_key_sealed, created_at, active_from from signing_keys where kid = $1`,
    [good],
  );
  const second = await startTestService({ beside: service });
  await service.context.signingKeys.refresh();
  for (const each of [service, second]) {
    assert.deepEqual(await publishedIds(each), [good]);
    assert.deepEqual(new Set(rejectedIds(each)), new Set(['another', strangerKid]));
    const { entitlement } = await startTrial(each, anyMachine());
    const { header } = await verifyEntitlement(each, entitlement, each.clock.now());
    assert.equal(header['kid'], good);
  }
  await second.context.signingKeys.refresh();
  assert.equal(rejectedIds(second).length, 2, 'a refresh logs the same rows again');
  const finding = await checkSigningKeys(service.pool, service.context.vault);
  assert.deepEqual([finding.status, finding.code], ['failed', 'signing_keys.rejected']);
  assert.ok(finding.symptom.includes(strangerKid) && finding.symptom.includes('another'));
});

test('a retired key does not sign or stay published after its row was changed', async () => {
  const changes = [
    `retired_at = null`,
    `retired_at = retired_at + interval '1 year'`,
    `created_at = created_at + interval '1 day', active_from = active_from + interval '1 second'`,
  ];
  const service = await startTestService();
  const old = signingKid(service);
  const current = await rotate(service);
  await service.pool.query('create table unchanged as select * from signing_keys');
  for (const change of changes) {
    await service.pool.query('truncate signing_keys');
    await service.pool.query('insert into signing_keys select * from unchanged');
    await service.pool.query(`update signing_keys set ${change} where kid = $1`, [old]);
    const restarted = await startTestService({ beside: service });
    assert.equal(signingKid(restarted), current, change);
    assert.deepEqual(await publishedIds(restarted), [current], change);
    assert.deepEqual(rejectedIds(restarted), [old], change);
  }
});

test('a retired key does not sign again after its successor was deleted', async () => {
  const service = await startTestService();
  const old = signingKid(service);
  const current = await rotate(service);
  await service.context.signingKeys.refresh();
  await service.pool.query('delete from signing_keys where kid = $1', [current]);
  await service.context.signingKeys.refresh();
  assert.equal(signingKid(service), current);
  assert.ok(service.log.some((line) => line.includes('"event":"signing_key.missing"')));
  const restarted = await startTestService({ beside: service });
  assert.notEqual(signingKid(restarted), old);
  const machine = anyMachine();
  const { licenseKey } = await service.issue();
  const { entitlement } = await activate(restarted, licenseKey, machine);
  const { header } = await verifyEntitlement(restarted, entitlement, restarted.clock.now());
  assert.notEqual(header['kid'], old);
});

test('a running process keeps a key retired when an earlier row is restored', async () => {
  const service = await startTestService();
  const old = signingKid(service);
  await service.pool.query('create table earlier_keys as select * from signing_keys');
  const current = await rotate(service);
  await service.context.signingKeys.refresh();
  await service.pool.query('truncate signing_keys');
  await service.pool.query('insert into signing_keys select * from earlier_keys');
  await service.context.signingKeys.refresh();
  assert.equal(signingKid(service), current);
  const retired = service.context.signingKeys.published.find(
    ({ publicJwk }) => publicJwk.kid === old,
  );
  assert.notEqual(retired?.retiredAt, null);
});

test('a revoked key is removed from the key set at once, and the key that signs cannot be revoked', async () => {
  const service = await startTestService();
  const change = { actor: 'test', reason: 'a test' };
  const old = signingKid(service);
  assert.equal(await revokeSigningKey(service.context, old, change), false);
  const current = await rotate(service);
  await service.context.signingKeys.refresh();
  assert.deepEqual(await publishedIds(service), [old, current]);
  assert.equal(await revokeSigningKey(service.context, old, change), true);
  await service.context.signingKeys.refresh();
  assert.deepEqual(await publishedIds(service), [current]);
  assert.equal(await revokeSigningKey(service.context, current, change), false);
});
