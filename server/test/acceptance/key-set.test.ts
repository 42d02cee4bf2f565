import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';

import { PublicJwk } from '@latchkey/contract';
import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import {
  PUBLISH_LEAD_MS,
  rotateSigningKey,
} from '#server/features/entitlements/rotate-signing-key.ts';

import { verifyEntitlement } from '../entitlements.ts';
import { activate, anyMachine, validate } from '../license-steps.ts';
import { DAY_MS, SECOND_MS } from '../test-clock.ts';
import { inProcess, openAcceptanceService } from './acceptance-service.ts';
import { problem, readBody } from './bodies.ts';

const PATH = '/.well-known/jwks.json';

/** The longest `offline_days` of the test catalogue, and the day of slack. */
const RETIRED_KEY_PUBLISHED_MS = 31 * DAY_MS;

const service = await openAcceptanceService();

const KeySet = Type.Object({ keys: Type.Array(PublicJwk) });

async function publishedIds(): Promise<string[]> {
  const { body } = await service.get(PATH);
  return Parse(KeySet, body).keys.map((key) => key.kid);
}

describe('200', () => {
  test('public Ed25519 keys with their thumbprints (RFC 7638), and nothing private', async () => {
    const answer = await service.get(PATH);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('cache-control'), 'public, max-age=240');
    const { keys } = Parse(KeySet, answer.body);
    assert.ok(keys.length >= 1);
    for (const key of keys) {
      assert.deepEqual(Object.keys(key).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x']);
      const { kty, crv, alg, use, x, kid } = key;
      assert.deepEqual([kty, crv, alg, use], ['OKP', 'Ed25519', 'EdDSA', 'sig']);
      const canonical = `{"crv":"Ed25519","kty":"OKP","x":"${x}"}`;
      assert.equal(kid, createHash('sha256').update(canonical).digest('base64url'));
    }
  });

  test(
    'a rotation publishes the new key before it signs, and the old one until its last token has expired',
    inProcess,
    async () => {
      const { clock, context } = service.own;
      const { licenseKey } = await service.own.issue();
      const machine = anyMachine();
      const { activation_id: id, entitlement } = await activate(service, licenseKey, machine);
      const ask = async () => {
        const answer = await validate(service, licenseKey, id, machine.machine_id);
        return verifyEntitlement(service, answer.entitlement, clock.now());
      };
      const [oldKid] = await publishedIds();
      const { kid: newKid } = await rotateSigningKey(
        context,
        { immediately: false },
        { actor: 'test', reason: 'a test' },
      );
      await context.signingKeys.refresh();
      assert.deepEqual(await publishedIds(), [oldKid, newKid]);
      clock.advance(PUBLISH_LEAD_MS - SECOND_MS);
      assert.equal((await ask()).header['kid'], oldKid);
      clock.advance(SECOND_MS);
      const retiredAt = clock.now();
      assert.equal((await ask()).header['kid'], newKid);
      const old = await verifyEntitlement(service, entitlement, clock.now());
      assert.equal(old.header['kid'], oldKid);
      clock.set(new Date(retiredAt.getTime() + RETIRED_KEY_PUBLISHED_MS - SECOND_MS));
      assert.deepEqual(await publishedIds(), [oldKid, newKid]);
      clock.advance(SECOND_MS);
      assert.deepEqual(await publishedIds(), [newKid]);
    },
  );

  test(
    'an immediate rotation signs with the new key from the next request on',
    inProcess,
    async () => {
      const { context } = service.own;
      const { licenseKey } = await service.own.issue();
      const machine = anyMachine();
      const { activation_id: id } = await activate(service, licenseKey, machine);
      service.own.clock.advance(SECOND_MS);
      const { kid } = await rotateSigningKey(
        context,
        { immediately: true },
        { actor: 'test', reason: 'a test' },
      );
      await context.signingKeys.refresh();
      const answer = await validate(service, licenseKey, id, machine.machine_id);
      const { header } = await verifyEntitlement(
        service,
        answer.entitlement,
        service.own.clock.now(),
      );
      assert.equal(header['kid'], kid);
    },
  );

  test(
    'an immediately rotated key is not replaced by one announced before it',
    inProcess,
    async () => {
      const { clock, context } = service.own;
      const { licenseKey } = await service.own.issue();
      const machine = anyMachine();
      const rotate = async (immediately: boolean) => {
        clock.advance(SECOND_MS);
        const change = { actor: 'test', reason: 'a test' };
        const { kid } = await rotateSigningKey(context, { immediately }, change);
        await context.signingKeys.refresh();
        return kid;
      };
      const announced = await rotate(false);
      const emergency = await rotate(true);
      const { activation_id: id } = await activate(service, licenseKey, machine);
      for (const waitMs of [0, PUBLISH_LEAD_MS, DAY_MS]) {
        clock.advance(waitMs);
        const { entitlement } = await validate(service, licenseKey, id, machine.machine_id);
        const { header } = await verifyEntitlement(service, entitlement, clock.now());
        assert.equal(header['kid'], emergency);
      }
      clock.advance(RETIRED_KEY_PUBLISHED_MS);
      const published = await publishedIds();
      assert.deepEqual([published.includes(announced), published.at(-1)], [false, emergency]);
    },
  );
});

describe('405', () => {
  test('POST is refused with GET in Allow', async () => {
    const answer = await service.post(PATH, {});
    assert.deepEqual([answer.status, answer.body], [405, problem('method_not_allowed')]);
  });
});

describe('404', () => {
  test('other well-known paths', async () => {
    for (const path of ['/.well-known/', '/.well-known/openid-configuration', '/jwks.json']) {
      const answer = await service.get(path);
      assert.equal(readBody(answer.body)['code'], 'not_found');
    }
  });
});
