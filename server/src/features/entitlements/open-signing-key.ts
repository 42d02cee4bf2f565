import { UnknownSecretError, type Vault } from '#server/lib/vault.ts';

import type { SigningKeyRecord } from './queries.ts';
import { exportSigningKey, importSigningKey, type SigningKey } from './signing-key.ts';

/** Why a row of `signing_keys` is not used. */
export type RejectionReason = 'unknown_secret' | 'altered';

/** A signing key whose row is authentic. */
export interface OpenedSigningKey {
  readonly record: SigningKeyRecord;
  readonly key: SigningKey;
}

/** A row that no process with the master secret wrote like this. */
export interface RejectedSigningKey {
  readonly kid: string;
  readonly reason: RejectionReason;
}

/** The moments that decide when a key signs and is published. */
type Lifetime = Pick<SigningKeyRecord, 'createdAt' | 'activeFrom' | 'retiredAt'>;

/**
 * Seals a private key together with its lifetime: without the master secret nobody adds a key, and nobody makes an old
 * one sign again or stay published by changing its row.
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

/** Splits rows into those that the master secret authenticates and the others. */
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
    // The thumbprint (RFC 7638) of the key itself; a row's own word counts for nothing.
    return key.publicJwk.kid === record.kid ? key : 'altered';
  } catch (error) {
    return error instanceof UnknownSecretError ? 'unknown_secret' : 'altered';
  }
}

function labelOf({ kid, ...lifetime }: Lifetime & { readonly kid: string }): string {
  const { createdAt, activeFrom, retiredAt } = lifetime;
  const moments = [createdAt, activeFrom, retiredAt].map((each) => each?.toISOString() ?? 'never');
  return ['signing-key', kid, ...moments].join(' ');
}
