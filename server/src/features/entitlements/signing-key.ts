import { createPrivateKey, createPublicKey, generateKeyPairSync, hash } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

import type { PublicJwk } from '@latchkey/contract';

/** A key that entitlements are signed with. */
export interface SigningKey {
  readonly publicJwk: PublicJwk;
  readonly privateKey: KeyObject;
  /** The first part of every token signed with this key, already encoded. */
  readonly encodedHeader: string;
}

/** Makes a new Ed25519 signing key. */
export function generateSigningKey(): SigningKey {
  return toSigningKey(generateKeyPairSync('ed25519').privateKey);
}

/** The private key as base64 of PKCS #8 DER: a secret, to be sealed before it is stored. */
export function exportSigningKey(key: SigningKey): string {
  return key.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
}

/**
 * Reads what `exportSigningKey` wrote.
 * @throws {Error} when it is no Ed25519 private key
 */
export function importSigningKey(exported: string): SigningKey {
  const der = Buffer.from(exported, 'base64');
  return toSigningKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
}

/**
 * The public JSON Web Key of an Ed25519 key.
 * @param key private or public
 * @throws {TypeError} when it is a key of another kind
 */
export function toPublicJwk(key: KeyObject): PublicJwk {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const { crv, x } = publicKey.export({ format: 'jwk' });
  if (crv !== 'Ed25519' || x === undefined) throw new TypeError('not an Ed25519 key');
  // RFC 7638: the required members only, in the order of their names, without blanks.
  const kid = hash('sha256', `{"crv":"Ed25519","kty":"OKP","x":"${x}"}`, 'base64url');
  return { kty: 'OKP', crv, x, kid, alg: 'EdDSA', use: 'sig' };
}

function toSigningKey(privateKey: KeyObject): SigningKey {
  const publicJwk = toPublicJwk(privateKey);
  const header = { alg: 'EdDSA', typ: 'entitlement+jwt', kid: publicJwk.kid };
  const encodedHeader = Buffer.from(JSON.stringify(header)).toString('base64url');
  return { publicJwk, privateKey, encodedHeader };
}
