import type { Context } from '#server/context.ts';
import { licenseNotFound, rateLimited, type PublicError } from '#server/errors.ts';

import { GUESS_POLICY } from './guess-limiter.ts';
import { hashLicenseKey } from './hash-license-key.ts';
import type { KeyFinding } from './queries/find-by-key.ts';

/**
 * What a license key leads to, or null when nobody has it.
 * @param activationId the activation to bring along; null for none
 */
async function findByKey(
  ctx: Context,
  licenseKey: string,
  activationId: string | null,
): Promise<KeyFinding | null> {
  const keyHash = hashLicenseKey(ctx, licenseKey);
  return keyHash === null ? null : ctx.batches.lookups.submit({ keyHash, activationId });
}

/**
 * Notes that a client asked for a key that nobody has.
 * @throws rateLimited (429) while its address is slowed down
 */
export function noteUnknownKey(ctx: Context, clientAddress: string): void {
  const retryAfterSeconds = ctx.guesses.recordFailure(clientAddress);
  if (retryAfterSeconds === 0) return;
  ctx.metrics.countRefusal('license_lookup', 'rate_limited');
  throw rateLimited(retryAfterSeconds, {
    'ratelimit-policy': GUESS_POLICY,
    ratelimit: `"guesses";r=0;t=${retryAfterSeconds}`,
  });
}

/**
 * The license of a key.
 * @throws licenseNotFound (404), or rateLimited (429) while the address is slowed down
 */
export async function requireByKey(
  ctx: Context,
  licenseKey: string,
  activationId: string | null,
  clientAddress: string,
): Promise<KeyFinding> {
  const finding = await findByKey(ctx, licenseKey, activationId);
  if (finding !== null) return finding;
  noteUnknownKey(ctx, clientAddress);
  throw refuse(ctx, 'license_lookup', licenseNotFound());
}

/** Counts a refusal before it is thrown. */
export function refuse(ctx: Context, operation: string, error: PublicError): PublicError {
  ctx.metrics.countRefusal(operation, error.code);
  return error;
}
