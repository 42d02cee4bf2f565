import assert from 'node:assert/strict';

import { PublicJwk } from '@latchkey/contract';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import type { HttpClient } from './http-client.ts';

const KeySet = Type.Object({ keys: Type.Array(PublicJwk) });

/** Verifies an entitlement as a client does, with the keys that the service publishes; returns header and claims. */
export async function verifyEntitlement(
  client: HttpClient,
  token: string | null | undefined,
  now: Date,
): Promise<{
  header: Readonly<Record<string, unknown>>;
  claims: Readonly<Record<string, unknown>>;
}> {
  assert.equal(typeof token, 'string');
  const keySet = await client.get('/.well-known/jwks.json');
  const keys = createLocalJWKSet({ keys: Parse(KeySet, keySet.body).keys });
  const { payload, protectedHeader } = await jwtVerify(token ?? '', keys, {
    algorithms: ['EdDSA'],
    typ: 'entitlement+jwt',
    currentDate: now,
  });
  return { header: { ...protectedHeader }, claims: { ...payload } };
}
