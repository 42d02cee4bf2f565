import { buildClaims, toSeconds, type EntitlementSubject } from './claims.ts';
import { encodeSigningInput, signEntitlement } from './token.ts';
import type { SigningKey } from './signing-key.ts';

/** For how long a token is handed out again before a new one is signed. */
export const REFRESH_INTERVAL_SECONDS = 3600;

/** What is kept of an activation's last token: enough to hand it out again, and nothing that gives anything away. */
export interface StoredEntitlement {
  /** The token's `iat`: whole seconds since 1970. */
  readonly issuedAt: number;
  /** The token's `jti`, 22 characters: a digest of the key's id and all other claims. */
  readonly jti: string;
  /** The token's last part: 86 characters of base64url. */
  readonly signature: string;
}

/** A token, and what to store of it; null when the stored one was handed out again. */
export interface IssuedEntitlement {
  readonly token: string;
  readonly toStore: StoredEntitlement | null;
}

/**
 * The token for an activation at a moment. A signature costs some 80 µs, more than all the rest of a validation, so the
 * last token is handed out again while it is younger than `REFRESH_INTERVAL_SECONDS` and would come out the same today:
 * rebuilt from the present facts with its own `iat`, it has the same `jti`. Any change (status, tier, expiry, machine,
 * signing key) gives another `jti` and so a new token.
 */
export function reuseOrSign(
  key: SigningKey,
  subject: EntitlementSubject,
  stored: StoredEntitlement | null,
  now: Date,
): IssuedEntitlement {
  const nowSeconds = toSeconds(now);
  if (stored !== null && isFresh(stored, nowSeconds)) {
    const input = encodeSigningInput(key, buildClaims(subject, stored.issuedAt));
    if (input.jti === stored.jti) {
      return { token: `${input.text}.${stored.signature}`, toStore: null };
    }
  }
  const { jti, text } = encodeSigningInput(key, buildClaims(subject, nowSeconds));
  const signature = signEntitlement(key, text);
  return { token: `${text}.${signature}`, toStore: { issuedAt: nowSeconds, jti, signature } };
}

/** A token from the future (the clock was set back) is not handed out: clients would refuse it. */
function isFresh({ issuedAt }: StoredEntitlement, nowSeconds: number): boolean {
  return issuedAt <= nowSeconds && nowSeconds - issuedAt < REFRESH_INTERVAL_SECONDS;
}
