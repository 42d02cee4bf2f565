import type { Context } from '#server/context.ts';
import { licenseNotFound, rateLimited, type PublicError } from '#server/errors.ts';

import { GUESS_POLICY } from './guess-limiter.ts';
import { identifyLicenseKey, type IdentifiedKey } from './hash-license-key.ts';
import { findOlderKeyHash } from './find-older-key.ts';
import type { KeyFinding } from './queries/find-by-key.ts';

/**
 * Records that a client asked for a key that nobody has.
 * @throws rateLimited (429) while its address is paused
 */
export function noteUnknownKey(ctx: Context, clientAddress: string): void {
  refuseFor(ctx, ctx.guesses.recordFailure(clientAddress));
}

/**
 * Admits a key before it is looked up.
 * @throws rateLimited (429) for a foreign key that is new to an address, while that is paused
 */
export function admitKey(ctx: Context, key: IdentifiedKey, clientAddress: string): void {
  if (key.isForeign) refuseFor(ctx, ctx.guesses.admit(clientAddress, key.keyHash));
}

/**
 * Records that a client asked for a key that a license has.
 * @throws rateLimited (429) for a foreign key when its address was paused during the look-up
 */
export function noteKnownKey(ctx: Context, key: IdentifiedKey, clientAddress: string): void {
  if (key.isForeign) refuseFor(ctx, ctx.guesses.recordSuccess(clientAddress, key.keyHash));
}

function refuseFor(ctx: Context, seconds: number): void {
  if (seconds === 0) return;
  ctx.metrics.countRefusal('license_lookup', 'rate_limited');
  throw rateLimited(seconds, {
    'ratelimit-policy': GUESS_POLICY,
    ratelimit: `"guesses";r=0;t=${seconds}`,
  });
}

/**
 * Finds the license of a key.
 * @param activationId the activation to bring along; null for none
 * @throws licenseNotFound (404), or rateLimited (429) while the address is paused
 */
export async function requireByKey(
  ctx: Context,
  licenseKey: string,
  activationId: string | null,
  clientAddress: string,
): Promise<KeyFinding> {
  const key = identifyLicenseKey(ctx, licenseKey);
  if (key !== null) {
    admitKey(ctx, key, clientAddress);
    const { lookups } = ctx.batches;
    let finding = await lookups.submit({ keyHash: key.keyHash, activationId });
    const olderHash = finding === null ? await findOlderKeyHash(ctx, licenseKey) : null;
    if (olderHash !== null) finding = await lookups.submit({ keyHash: olderHash, activationId });
    if (finding !== null) {
      noteKnownKey(ctx, key, clientAddress);
      return finding;
    }
  }
  noteUnknownKey(ctx, clientAddress);
  throw refuse(ctx, 'license_lookup', licenseNotFound());
}

/** Counts a refusal before it is thrown. */
export function refuse(ctx: Context, operation: string, error: PublicError): PublicError {
  ctx.metrics.countRefusal(operation, error.code);
  return error;
}
