import type { PublicJwk } from './signing-key.ts';

const DAY_MS = 86_400_000;

/** A process that has not heard of a rotation may sign with the old key for a while. */
const ROTATION_SLACK_DAYS = 1;

/** A signing key's public half and whether it is still used. */
export interface PublishedKey {
  readonly publicJwk: PublicJwk;
  /** When another key took over; null for the present one. */
  readonly retiredAt: Date | null;
}

/** A JSON Web Key Set (RFC 7517). */
export interface JwkSet {
  readonly keys: readonly PublicJwk[];
}

/**
 * The public keys that clients need now: the present one, and old ones until the last token signed with them is over.
 * @param maxOfflineDays the longest that a token is believed to live: the longest `offline_days` known today. A token of
 * a product whose `offline_days` were longer when it was signed may outlive its key here
 */
export function jwks(keys: readonly PublishedKey[], maxOfflineDays: number, now: Date): JwkSet {
  const keptMs = (maxOfflineDays + ROTATION_SLACK_DAYS) * DAY_MS;
  const isNeeded = ({ retiredAt }: PublishedKey): boolean =>
    retiredAt === null || now.getTime() < retiredAt.getTime() + keptMs;
  return { keys: keys.filter(isNeeded).map(({ publicJwk }) => publicJwk) };
}
