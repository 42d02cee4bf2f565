import { hash, sign } from 'node:crypto';

import { deriveTestKey, type TestKey } from './test-keys.ts';

/** The key that signs the tokens of the vectors. */
export const SERVICE_KEY = deriveTestKey('service');

/** A key that no client knows. */
export const FOREIGN_KEY = deriveTestKey('foreign');

/** 2027-01-15T08:00:00Z in seconds: the time of the vectors. */
export const NOW_S = 1_800_000_000;

export const DAY_S = 86_400;
export const ISSUER = 'https://license.example.com';
export const MACHINE_ID = '4c4c4544-0044-4a10-8051-b4c04f565231';

/** The claims of a license that may run for 14 days without a connection. */
export const CLAIMS = {
  jti: 'q2YV8cQK1mJ0aXl4bTn3Zw',
  iss: ISSUER,
  aud: 'studio',
  sub: '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d',
  iat: NOW_S,
  nbf: NOW_S,
  exp: NOW_S + 14 * DAY_S,
  activation_id: '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3e',
  machine: hashMachineId(MACHINE_ID),
  tier: 'personal',
  features: ['history', 'gpu'],
  status: 'active',
  license_expires_at: null,
  trial: false,
};

/** The parts of a token; a text is used as it is. */
export interface TokenParts {
  /** Default: the one of an entitlement of {@link SERVICE_KEY}. */
  readonly header?: object | string;
  /** Default: {@link CLAIMS}. */
  readonly payload?: object | string;
  readonly key?: TestKey;
}

/** Returns the header of an entitlement. */
export function headerOf({ publicJwk: { kid } }: TestKey) {
  return { alg: 'EdDSA', kid, typ: 'entitlement+jwt' };
}

/** Returns what is signed: header and payload in base64url, with a dot between. */
export function encodeSigningInput({ header, payload, key = SERVICE_KEY }: TokenParts): string {
  return `${encodePart(header ?? headerOf(key))}.${encodePart(payload ?? CLAIMS)}`;
}

/** Signs a token. Ed25519 is deterministic: the same parts always result in the same bytes. */
export function signToken(parts: TokenParts = {}): string {
  const input = encodeSigningInput(parts);
  const { privateKey } = parts.key ?? SERVICE_KEY;
  return `${input}.${sign(null, Buffer.from(input), privateKey).toString('base64url')}`;
}

/** Returns the claims with others in their place; undefined leaves one out. */
export function claimsWith(changes: Readonly<Record<string, unknown>>): object {
  return { ...CLAIMS, ...changes };
}

/** Returns the base64url SHA-256 of a machine id in UTF-8. */
export function hashMachineId(machineId: string): string {
  return hash('sha256', machineId, 'base64url');
}

function encodePart(content: object | string): string {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  return Buffer.from(text).toString('base64url');
}
