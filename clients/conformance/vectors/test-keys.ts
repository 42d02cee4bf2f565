import { createHash, createPrivateKey, createPublicKey, hash, type KeyObject } from 'node:crypto';

/** The public half of an Ed25519 key, as a service publishes it. */
export interface TestPublicJwk {
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly kid: string;
  readonly alg: string;
  readonly use: string;
}

/** A signing key whose private half is public: for tests alone. */
export interface TestKey {
  readonly privateKey: KeyObject;
  readonly publicJwk: TestPublicJwk;
}

/** The DER of a PKCS #8 Ed25519 key, before its 32 bytes of seed (RFC 8410). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Derives a signing key from its name, so that the same name always has the same key. */
export function deriveTestKey(name: string): TestKey {
  const seed = createHash('sha256').update(`latchkey conformance ${name}`).digest();
  const der = Buffer.concat([PKCS8_PREFIX, seed]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { privateKey, publicJwk: describePublicKey(x) };
}

/**
 * Returns a public key as a service publishes it.
 * @param x the 32 bytes of the key in base64url
 */
export function describePublicKey(x: string): TestPublicJwk {
  const thumbprint = hash('sha256', JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }), 'base64url');
  return { kty: 'OKP', crv: 'Ed25519', x, kid: thumbprint, alg: 'EdDSA', use: 'sig' };
}
