/** Signs entitlements as the service does, with keys of the test. */
import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

import type { PublicKey } from '../src/tokens/public-keys.ts';

export const ISSUER = 'https://license.example.com';
export const MACHINE_ID = '4c4c4544-0044';

/** 2027-01-15T08:00:00Z */
export const NOW_MS = 1_800_000_000_000;
export const DAY_MS = 86_400_000;

/** A pair of keys of a service. */
export interface Signer {
  readonly publicKey: PublicKey;
  readonly privateKey: KeyObject;
}

export function createSigner(): Signer {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const kid = createHash('sha256').update(x).digest('base64url');
  return { publicKey: { kty: 'OKP', crv: 'Ed25519', x, kid }, privateKey };
}

/** The signer of tests that need only one. */
export const SIGNER = createSigner();

export type ClaimChanges = Readonly<Record<string, unknown>>;

/** Returns the claims of a license of 14 days without a connection. */
export function claimsWith(changes: ClaimChanges = {}): Record<string, unknown> {
  const now = NOW_MS / 1000;
  return {
    jti: 'any',
    iss: ISSUER,
    aud: 'personal',
    sub: 'any license',
    iat: now,
    nbf: now,
    exp: now + 14 * 86_400,
    activation_id: '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d',
    machine: createHash('sha256').update(MACHINE_ID).digest('base64url'),
    tier: 'personal',
    features: ['history', 'gpu'],
    status: 'active',
    license_expires_at: null,
    trial: false,
    ...changes,
  };
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** Signs an entitlement. @param header replaces that of the signer */
export function signToken(
  changes: ClaimChanges = {},
  { signer = SIGNER, header }: { signer?: Signer; header?: object } = {},
): string {
  const ownHeader = { alg: 'EdDSA', kid: signer.publicKey.kid, typ: 'entitlement+jwt' };
  const text = `${encode(header ?? ownHeader)}.${encode(claimsWith(changes))}`;
  return `${text}.${sign(null, Buffer.from(text), signer.privateKey).toString('base64url')}`;
}
