import { isUuid } from '@latchkey/contract';

import type { Context } from '#server/context.ts';
import { licenseNotFound, rateLimited, type PublicError } from '#server/errors.ts';
import { networkOf } from '#server/lib/client-network.ts';

import { GUESS_POLICY } from './guess-limiter.ts';
import { identifyLicenseKey, type IdentifiedKey, hashUnderAllSecrets } from './license-key.ts';
import type { FoundLicense } from './queries/find-by-key.ts';
import { findStoredKey, findLicenseIdByKey } from './queries/license-keys.ts';

/**
 * Records that a client asked for a key that nobody has.
 * @throws rateLimited (429) while its address is paused
 */
export function noteUnknownKey(ctx: Context, clientAddress: string): void {
  refuseFor(ctx, ctx.guesses.recordFailure(clientAddress));
}

/** Reads what belongs to the hash of a key; null when no license has that key. */
type ReadByHash<Found> = (keyHash: string) => Promise<Found | null>;

/**
 * Looks up a key that a client sent, and counts it as a guess when no license has it. Foreign keys that are new to a
 * network are looked up one after the other: of those sent at once, the right ones would otherwise be answered before the
 * wrong ones are counted.
 * @returns null for an unknown key
 * @throws rateLimited (429) while the address is paused, for unknown keys and for foreign keys that are new to it
 */
export async function lookUpKey<Found>(
  ctx: Context,
  licenseKey: string,
  clientAddress: string,
  read: ReadByHash<Found>,
): Promise<Found | null> {
  const key = identifyLicenseKey(ctx, licenseKey);
  if (key === null) {
    noteUnknownKey(ctx, clientAddress);
    return null;
  }
  const lookUp = async (): Promise<Found | null> => {
    admitKey(ctx, key, clientAddress);
    const found = (await read(key.keyHash)) ?? (await readUnderOlderHash(ctx, licenseKey, read));
    if (found === null) noteUnknownKey(ctx, clientAddress);
    else noteKnownKey(ctx, key, clientAddress);
    return found;
  };
  if (!key.isForeign || ctx.guesses.isKnown(clientAddress, key.keyHash)) return lookUp();
  // Refused before it takes a place in the queue.
  admitKey(ctx, key, clientAddress);
  return ctx.lookUpLimiter.runForKey(networkOf(clientAddress), lookUp);
}

async function readUnderOlderHash<Found>(
  ctx: Context,
  licenseKey: string,
  read: ReadByHash<Found>,
): Promise<Found | null> {
  const olderHash = await findOlderKeyHash(ctx, licenseKey);
  return olderHash === null ? null : read(olderHash);
}

/** Before a key is looked up: throws rateLimited (429) for a foreign key that is new to an address, while that is paused. */
function admitKey(ctx: Context, key: IdentifiedKey, clientAddress: string): void {
  if (key.isForeign) refuseFor(ctx, ctx.guesses.admit(clientAddress, key.keyHash));
}

/** After a key was found: throws rateLimited (429) for a foreign key whose address was paused during the look-up. */
function noteKnownKey(ctx: Context, key: IdentifiedKey, clientAddress: string): void {
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
): Promise<FoundLicense> {
  const finding = await lookUpKey(ctx, licenseKey, clientAddress, (keyHash) =>
    ctx.batches.lookups.submit({ keyHash, activationId }),
  );
  if (finding !== null) return finding;
  throw refuse(ctx, 'license_lookup', licenseNotFound());
}

/** Counts a refusal before it is thrown. */
export function refuse(ctx: Context, operation: string, error: PublicError): PublicError {
  ctx.metrics.countRefusal(operation, error.code);
  return error;
}

/**
 * Under which hash a key is stored that was not found under the current master secret. Costs nothing while no previous
 * secret is configured. The current hash is among the candidates, because a rotation may just have rewritten the row.
 */
async function findOlderKeyHash(ctx: Context, licenseKey: string): Promise<string | null> {
  if (ctx.vault.previous.length === 0) return null;
  const candidates = hashUnderAllSecrets(ctx, licenseKey);
  const stored = await ctx.databaseLimiter.run(() => findStoredKey(ctx.pool, candidates));
  return stored?.keyHash ?? null;
}

/**
 * The id of the license that an operator names by its key or its id; null when no license has that key. An imported key
 * that looks like a UUID is found as a key first.
 */
export async function resolveLicenseId(ctx: Context, keyOrId: string): Promise<string | null> {
  const keyHashes = hashUnderAllSecrets(ctx, keyOrId);
  const id = keyHashes.length === 0 ? null : await findLicenseIdByKey(ctx.pool, keyHashes);
  if (id !== null) return id;
  return isUuid(keyOrId.trim()) ? keyOrId.trim().toLowerCase() : null;
}
