import type { SigningKeyState } from '@latchkey/contract';

import { listSigningKeys, type SigningKeyRecord } from './queries.ts';
import type { SigningKeyDependencies } from './rotate-signing-key.ts';
import { findCurrentKey, openSigningKeys } from './signing-key.ts';

/** A signing key and its present state. */
interface ViewedSigningKey {
  readonly record: SigningKeyRecord;
  readonly state: SigningKeyState;
}

/** Lists the signing keys with their states, oldest first. */
export async function viewSigningKeys({
  clock,
  pool,
  vault,
}: SigningKeyDependencies): Promise<ViewedSigningKey[]> {
  const now = clock.now();
  const records = await listSigningKeys(pool);
  const authentic = openSigningKeys(vault, records).opened.map(({ record }) => record);
  const signing = findCurrentKey(authentic, now);
  return records.map((record) => ({ record, state: stateOf(record, authentic, signing, now) }));
}

/**
 * @param authentic the keys whose rows the master secret authenticates
 * @param signing the key that signs now
 */
function stateOf(
  record: SigningKeyRecord,
  authentic: readonly SigningKeyRecord[],
  signing: SigningKeyRecord | undefined,
  now: Date,
): SigningKeyState {
  const { kid, createdAt, retiredAt } = record;
  if (!authentic.includes(record)) return 'rejected';
  if (kid === signing?.kid) return 'signing';
  if (retiredAt === null || retiredAt > now) return 'published';
  return retiredAt < createdAt ? 'revoked' : 'retired';
}
