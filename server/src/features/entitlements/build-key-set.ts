import type { JwkSet, PublicJwk } from '@latchkey/contract';

const DAY_MS = 86_400_000;

/** A process that has not yet heard of a rotation goes on signing with the old key for a while. */
const ROTATION_SLACK_DAYS = 1;

/** A signing key's public half and whether it is still used. */
export interface PublishedKey {
  readonly publicJwk: PublicJwk;
  /** When another key took over; null for the present one. */
  readonly retiredAt: Date | null;
}

/**
 * The public keys that clients need now: the present one, and old ones until the last token signed with them is over.
 * @param maxOfflineDays the longest life that a token is assumed to have: the longest `offline_days` of today. A token
 * that was signed while its product's were longer may outlive its key here
 */
export function buildKeySet(
  keys: readonly PublishedKey[],
  maxOfflineDays: number,
  now: Date,
): JwkSet {
  const keptMs = (maxOfflineDays + ROTATION_SLACK_DAYS) * DAY_MS;
  const isNeeded = ({ retiredAt }: PublishedKey): boolean =>
    retiredAt === null || now.getTime() < retiredAt.getTime() + keptMs;
  return { keys: keys.filter(isNeeded).map(({ publicJwk }) => publicJwk) };
}
