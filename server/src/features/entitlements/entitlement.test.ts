import { strict as assert } from 'node:assert';
import { createPublicKey, hash, verify } from 'node:crypto';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createLocalJWKSet, errors, jwtVerify } from 'jose';
import {
  anyStatusFacts,
  at,
  DAY_MS,
  perpetual,
  plus,
} from '../licenses/rules/status-facts.fixture.ts';
import { isUsable, licenseStatus, publicExpiry, usableUntil } from '../licenses/rules/status.ts';
import { buildClaims, hashMachineId, type EntitlementSubject } from './token.ts';
import {
  REFRESH_INTERVAL_SECONDS,
  reuseOrSign,
  type EntitlementProof,
} from './issue-entitlement.ts';
import { buildKeySet } from './key-ring.ts';
import { generateSigningKey } from './signing-key.ts';

const now = at('2026-03-01T12:00:00.789Z');
const nowSeconds = 1_772_366_400;
const key = generateSigningKey();
const keySet = createLocalJWKSet({ keys: [{ ...key.publicJwk }] });

const subject: EntitlementSubject = {
  issuer: 'https://licenses.example.com',
  license: perpetual,
  terms: { tier: 'personal', features: ['history', 'gpu'], offlineDays: 14 },
  status: 'active',
  expiresAt: null,
  activationId: '0193a1b2-0000-7000-8000-0000000000a1',
  machineHash: hashMachineId('Machine-1'),
};

function verifyToken(token: string, time: Date) {
  return jwtVerify(token, keySet, {
    algorithms: ['EdDSA'],
    typ: 'entitlement+jwt',
    issuer: 'https://licenses.example.com',
    audience: 'personal',
    currentDate: time,
  });
}

function sign(changed: Partial<EntitlementSubject> = {}, time = now) {
  const issued = reuseOrSign(key, { ...subject, ...changed }, null, time);
  assert.ok(issued.newProof !== null);
  return { token: issued.token, stored: issued.newProof };
}

test('a client reads the claims of a token with jose and the public key set', async () => {
  const { token, stored } = sign();
  const { payload, protectedHeader } = await verifyToken(token, now);
  assert.deepEqual(protectedHeader, {
    alg: 'EdDSA',
    typ: 'entitlement+jwt',
    kid: key.publicJwk.kid,
  });
  assert.deepEqual(payload, {
    jti: stored.jti,
    iss: 'https://licenses.example.com',
    aud: 'personal',
    sub: perpetual.id,
    iat: nowSeconds,
    nbf: nowSeconds,
    exp: nowSeconds + 14 * 86_400,
    activation_id: '0193a1b2-0000-7000-8000-0000000000a1',
    machine: hash('sha256', 'Machine-1', 'base64url'),
    tier: 'personal',
    features: ['history', 'gpu'],
    status: 'active',
    license_expires_at: null,
    trial: false,
  });
});

test('a token verifies with only an Ed25519 library', () => {
  const [header = '', payload = '', signature = '', ...rest] = sign().token.split('.');
  assert.deepEqual(rest, []);
  const publicKey = createPublicKey({ key: { ...key.publicJwk }, format: 'jwk' });
  const isGood = (input: string): boolean =>
    verify(null, Buffer.from(input), publicKey, Buffer.from(signature, 'base64url'));
  assert.ok(isGood(`${header}.${payload}`));
  assert.ok(!isGood(`${header}.x${payload}`));
});

test('a token ends with its offline days', async () => {
  const { token } = sign();
  const end = new Date((nowSeconds + 14 * 86_400) * 1000);
  await verifyToken(token, plus(end, -1000));
  await assert.rejects(verifyToken(token, end), errors.JWTExpired);
  await assert.rejects(verifyToken(token, plus(now, -DAY_MS)), errors.JWTClaimValidationFailed);
});

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

test('a changed token, another key, and another algorithm are refused', async () => {
  const { token } = sign();
  const [header, payload, signature] = token.split('.');
  const claims: unknown = JSON.parse(Buffer.from(payload ?? '', 'base64url').toString());
  assert.ok(typeof claims === 'object');
  const richer = encode({ ...claims, tier: 'everything' });
  await assert.rejects(verifyToken(`${header}.${richer}.${signature}`, now));
  const unsigned = encode({ alg: 'none', typ: 'entitlement+jwt' });
  await assert.rejects(verifyToken(`${unsigned}.${payload}.`, now));
  const stranger = reuseOrSign(generateSigningKey(), subject, null, now).token;
  await assert.rejects(verifyToken(stranger, now), errors.JWKSNoMatchingKey);
});

test('a token never outlives the license and its grace', () => {
  fc.assert(
    fc.property(
      anyStatusFacts,
      fc.date({ min: at('2026-01-01'), max: at('2026-06-01'), noInvalidDate: true }),
      fc.integer({ min: 1, max: 365 }),
      (license, time, offlineDays) => {
        const status = licenseStatus(license, time);
        fc.pre(isUsable(status));
        const issuedAt = Math.floor(time.getTime() / 1000);
        const expiresAt = publicExpiry(license, time);
        const terms = { ...subject.terms, offlineDays };
        const { exp } = buildClaims({ ...subject, license, terms, status, expiresAt }, issuedAt);
        const end = usableUntil(license);
        const latest = issuedAt + offlineDays * 86_400;
        assert.ok(Number.isInteger(exp) && exp <= latest);
        if (end === null) assert.equal(exp, latest);
        else assert.equal(exp, Math.min(latest, Math.floor(end.getTime() / 1000)));
      },
    ),
  );
});

test('the token ends with its license: after the grace period of a subscription, without one for others', () => {
  const expiresAt = plus(now, 2 * DAY_MS);
  const endOf = (facts: Partial<EntitlementSubject['license']>): number => {
    const license = { ...perpetual, ...facts };
    const terms = { ...subject.terms, offlineDays: 30 };
    return buildClaims({ ...subject, license, terms, expiresAt }, nowSeconds).exp - nowSeconds;
  };
  assert.equal(endOf({ expiresAt }), 2 * 86_400);
  assert.equal(endOf({ expiresAt, trial: true }), 2 * 86_400);
  assert.equal(endOf({ expiresAt, subscription: true }), 16 * 86_400);
  assert.equal(endOf({ expiresAt, subscription: true, cancelScheduledFor: expiresAt }), 2 * 86_400);
  assert.equal(endOf({}), 30 * 86_400);
});

test('the license’s end is in whole seconds, an unbound machine is null', () => {
  const expiresAt = at('2026-04-01T00:00:00.999Z');
  const claims = buildClaims({ ...subject, expiresAt, machineHash: null }, nowSeconds);
  assert.equal(claims.license_expires_at, 1_775_001_600);
  assert.equal(claims.machine, null);
});

test('a token is reused for an hour, byte for byte', () => {
  const { token, stored } = sign();
  const start = new Date(nowSeconds * 1000);
  const lastMs = REFRESH_INTERVAL_SECONDS * 1000 - 1;
  for (const ms of [0, 1, 60_000, lastMs]) {
    assert.deepEqual(reuseOrSign(key, subject, stored, plus(start, ms)), { token, newProof: null });
  }
  const renewed = reuseOrSign(key, subject, stored, plus(start, lastMs + 1));
  assert.equal(renewed.newProof?.issuedAt, nowSeconds + REFRESH_INTERVAL_SECONDS);
  assert.notEqual(renewed.token, token);
});

test('a token from the future is not reused', () => {
  const { stored } = sign();
  const before = reuseOrSign(key, subject, stored, plus(now, -1000));
  assert.equal(before.newProof?.issuedAt, nowSeconds - 1);
});

test('any change results in a new token at once', async () => {
  const { token, stored } = sign();
  const { license, terms } = subject;
  const changes: Partial<EntitlementSubject>[] = [
    { issuer: 'https://other.example.com' },
    { license: { ...license, id: '0193a1b2-0000-7000-8000-000000000002' } },
    { license: { ...license, productId: 'sellers' } },
    { license: { ...license, trial: true } },
    { license: { ...license, expiresAt: plus(now, DAY_MS) } },
    { terms: { ...terms, tier: 'other' } },
    { terms: { ...terms, tier: null } },
    { terms: { ...terms, features: ['history'] } },
    { terms: { ...terms, offlineDays: 15 } },
    { status: 'past_due' },
    { expiresAt: plus(now, DAY_MS) },
    { activationId: '0193a1b2-0000-7000-8000-0000000000a2' },
    { machineHash: null },
    { machineHash: hashMachineId('Machine-2') },
  ];
  const tokens = new Set([token]);
  for (const change of changes) {
    const issued = reuseOrSign(key, { ...subject, ...change }, stored, plus(now, 1000));
    assert.notEqual(issued.newProof, null, JSON.stringify(change));
    tokens.add(issued.token);
  }
  assert.equal(tokens.size, changes.length + 1);
  const otherKey = generateSigningKey();
  assert.notEqual(reuseOrSign(otherKey, subject, stored, now).newProof, null);
  await verifyToken(reuseOrSign(key, subject, stored, plus(now, 1000)).token, now);
});

test('a returned token verifies after any stored value and change', () => {
  const publicKey = createPublicKey({ key: { ...key.publicJwk }, format: 'jwk' });
  const anySubject = fc.record({
    tier: fc.option(fc.constantFrom('a', 'é"\\'), { nil: null }),
    features: fc.subarray(['x', 'y', '"']),
    machineHash: fc.option(fc.constantFrom('m', 'n'), { nil: null }),
    seconds: fc.nat(2 * REFRESH_INTERVAL_SECONDS),
  });
  fc.assert(
    fc.property(fc.array(anySubject, { minLength: 2, maxLength: 6 }), (steps) => {
      let stored: EntitlementProof | null = null;
      for (const { tier, features, machineHash, seconds } of steps) {
        const terms = { ...subject.terms, tier, features };
        const time = plus(now, seconds * 1000);
        const issued = reuseOrSign(key, { ...subject, terms, machineHash }, stored, time);
        stored = issued.newProof ?? stored;
        const [header = '', payload = '', signature = ''] = issued.token.split('.');
        const bytes = Buffer.from(`${header}.${payload}`);
        assert.ok(verify(null, bytes, publicKey, Buffer.from(signature, 'base64url')));
        const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
        assert.ok(stored !== null);
        const expected = buildClaims({ ...subject, terms, machineHash }, stored.issuedAt);
        assert.deepEqual(claims, { jti: stored.jti, ...expected });
      }
    }),
    { numRuns: 50 },
  );
});

test('old public keys are published until their last token has expired', () => {
  const old = generateSigningKey().publicJwk;
  const present = generateSigningKey().publicJwk;
  const keys = [
    { publicJwk: old, retiredAt: now },
    { publicJwk: present, retiredAt: null },
  ];
  const end = plus(now, 15 * DAY_MS);
  assert.deepEqual(buildKeySet(keys, 14, now), { keys: [old, present] });
  assert.deepEqual(buildKeySet(keys, 14, plus(end, -1)), { keys: [old, present] });
  assert.deepEqual(buildKeySet(keys, 14, end), { keys: [present] });
});
