import { randomUUID } from 'node:crypto';

import { ISSUER } from '../service/catalog.ts';
import type { Stage } from '../play/stage.ts';
import { hashMachineId, signToken } from '../vectors/sign-token.ts';
import type { TestKey } from '../vectors/test-keys.ts';
import { DAY_MS } from './steps.ts';

/**
 * Returns what a service that pretends to be the real one answers to an activation: everything is right but the key.
 * @param kid the id under which the token names the key; default: its own
 */
export function fakeActivation(stage: Stage, key: TestKey, kid = key.publicJwk.kid) {
  const issuedAt = Math.floor(stage.startMs / 1000);
  const activationId = randomUUID();
  const payload = {
    jti: 'fake',
    iss: ISSUER,
    aud: 'studio',
    sub: randomUUID(),
    iat: issuedAt,
    nbf: issuedAt,
    exp: issuedAt + (3_650 * DAY_MS) / 1000,
    activation_id: activationId,
    machine: hashMachineId(stage.machine.machine_id),
    tier: 'personal',
    features: ['history', 'gpu'],
    status: 'active',
    license_expires_at: null,
    trial: false,
  };
  const header = { alg: 'EdDSA', kid, typ: 'entitlement+jwt' };
  return {
    activation_id: activationId,
    expires_at: null,
    features: payload.features,
    tier: payload.tier,
    status: 'active',
    entitlement: signToken({ header, payload, key }),
  };
}
