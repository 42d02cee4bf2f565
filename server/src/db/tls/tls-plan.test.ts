import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseDatabaseUrl } from '#server/config/database-url.ts';

import { chooseVerification, planTls } from './tls-plan.ts';

function plan(query: string) {
  const parsed = parseDatabaseUrl(`postgres://db/x?${query}`, {});
  assert.ok('value' in parsed);
  return planTls(parsed.value.tls, () => null, 'DATABASE_URL');
}

test('verifies the authority with any mode if there is a root certificate, and the host with verify-full', () => {
  for (const [mode, without, withRoot] of [
    ['allow', 'none', 'chain'],
    ['prefer', 'none', 'chain'],
    ['require', 'none', 'chain'],
    ['verify-ca', 'chain', 'chain'],
    ['verify-full', 'host', 'host'],
  ] as const) {
    assert.equal(chooseVerification(mode, false), without, mode);
    assert.equal(chooseVerification(mode, true), withRoot, mode);
  }
});

test('trusts the authorities of the system only for a verified host name', () => {
  const { attempts, verification, context } = plan('sslrootcert=system');
  assert.deepEqual([attempts, verification], [['tls'], 'host']);
  assert.notEqual(context, null);
});

test('needs no certificates without TLS', () => {
  assert.deepEqual(plan('sslmode=disable').attempts, ['plain']);
  assert.equal(plan('sslmode=disable').context, null);
});
