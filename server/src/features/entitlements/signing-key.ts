import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
} from 'node:crypto';

import type { PublicJwk } from '@latchkey/contract';

import { UnknownSecretError, type Vault } from '#server/lib/vault.ts';

import type { SigningKeyRecord } from './queries.ts';

/** A key that entitlements are signed with. */
export interface SigningKey {
  readonly publicJwk: PublicJwk;
  readonly privateKey: KeyObject;
  /** The encoded header of every token signed with this key. */
  readonly encodedHeader: string;
}

/** Generates an Ed25519 signing key. */
export function generateSigningKey(): SigningKey {
  return toSigningKey(generateKeyPairSync('ed25519').privateKey);
}

/** Exports the private key as base64 of PKCS #8 DER, which must be sealed before it is stored. */
export function exportSigningKey(key: SigningKey): string {
  return key.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
}

/**
 * Imports what `exportSigningKey` exported.
 * @throws {Error} when it is not an Ed25519 private key
 */
export function importSigningKey(exported: string): SigningKey {
  const der = Buffer.from(exported, 'base64');
  return toSigningKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
}

/**
 * Returns the public JSON Web Key of an Ed25519 key.
 * @param key private or public
 * @throws {TypeError} when the key is of another type
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

/** Why a row of `signing_keys` is rejected. */
export type RejectionReason = 'unknown_secret' | 'altered';

/** A signing key whose row is authentic. */
export interface OpenedSigningKey {
  readonly record: SigningKeyRecord;
  readonly key: SigningKey;
}

/** A row that the master secret does not authenticate. */
export interface RejectedSigningKey {
  readonly kid: string;
  readonly reason: RejectionReason;
}

/** When a key signs and is published. */
type Lifetime = Pick<SigningKeyRecord, 'createdAt' | 'activeFrom' | 'retiredAt'>;

/**
 * Seals a private key together with its lifetime. Without the master secret, a changed row can neither add a key nor
 * make an old one sign again or stay published.
 */
export function sealSigningKey(
  vault: Vault,
  key: SigningKey,
  lifetime: Lifetime,
): SigningKeyRecord {
  const { createdAt, activeFrom, retiredAt } = lifetime;
  const { kid } = key.publicJwk;
  const label = labelOf({ kid, createdAt, activeFrom, retiredAt });
  const privateKeySealed = vault.seal(exportSigningKey(key), label);
  return { kid, privateKeySealed, createdAt, activeFrom, retiredAt };
}

/** Opens the rows that the master secret authenticates, and rejects the others. */
export function openSigningKeys(
  vault: Pick<Vault, 'open'>,
  records: readonly SigningKeyRecord[],
): { readonly opened: OpenedSigningKey[]; readonly rejected: RejectedSigningKey[] } {
  const opened: OpenedSigningKey[] = [];
  const rejected: RejectedSigningKey[] = [];
  for (const record of records) {
    const key = openSigningKey(vault, record);
    if (typeof key === 'string') rejected.push({ kid: record.kid, reason: key });
    else opened.push({ record, key });
  }
  return { opened, rejected };
}

function openSigningKey(
  vault: Pick<Vault, 'open'>,
  record: SigningKeyRecord,
): SigningKey | RejectionReason {
  try {
    const key = importSigningKey(vault.open(record.privateKeySealed, labelOf(record)));
    // Compares the thumbprint (RFC 7638) of the key itself with that of the row.
    return key.publicJwk.kid === record.kid ? key : 'altered';
  } catch (error) {
    return error instanceof UnknownSecretError ? 'unknown_secret' : 'altered';
  }
}

function labelOf({ kid, ...lifetime }: Lifetime & { readonly kid: string }): string {
  const { createdAt, activeFrom, retiredAt } = lifetime;
  const times = [createdAt, activeFrom, retiredAt].map((each) => each?.toISOString() ?? 'never');
  return ['signing-key', kid, ...times].join(' ');
}

/**
 * Returns the key that signs at a time: the newest that is active and not retired, or else the first that is not
 * retired, because the clock of another process may be ahead of this one.
 * @param keys in the order in which they were created
 * @returns undefined when every key is retired
 */
export function findCurrentKey<Key extends Pick<Lifetime, 'activeFrom' | 'retiredAt'>>(
  keys: readonly Key[],
  now: Date,
): Key | undefined {
  const usable = keys.filter(({ retiredAt }) => retiredAt === null || retiredAt > now);
  return usable.findLast(({ activeFrom }) => activeFrom <= now) ?? usable[0];
}
