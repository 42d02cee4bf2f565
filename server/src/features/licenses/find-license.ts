import { isUuid } from '@latchkey/contract';
import type { Pool } from 'pg';

import { licenseNotFound, rateLimited, type PublicError } from '#server/errors.ts';
import { networkOf } from '#server/lib/client-network.ts';

import type { LicenseDependencies, LicenseKeyDependencies } from './dependencies.ts';
import { GUESS_POLICY } from './guess-limiter.ts';
import { hashWithAllSecrets, identifyLicenseKey, type IdentifiedKey } from './license-key.ts';
import type { FoundLicense } from './queries/find-by-key.ts';
import { findLicenseIdByKey, findStoredKey } from './queries/license-keys.ts';

/**
 * Finds the license of a key.
 * @param activationId the activation to read with it; null for none
 * @throws licenseNotFound (404), or rateLimited (429) while the address is paused
 */
export async function requireByKey(
  deps: LicenseDependencies,
  licenseKey: string,
  activationId: string | null,
  clientAddress: string,
): Promise<FoundLicense> {
  const found = await lookUpKey(deps, licenseKey, clientAddress, (keyHash) =>
    deps.batches.lookups.submit({ keyHash, activationId }),
  );
  if (found !== null) return found;
  throw refuse(deps, 'license_lookup', licenseNotFound());
}

/**
 * Looks up a key that a client sent, and counts it as a guess when no license has it. Guessable keys that are new to a
 * network are looked up one at a time: of concurrent keys, right ones would otherwise be answered before the wrong ones
 * are counted.
 * @param read reads a license by the hash of its key; null when no license has that key
 * @returns null for an unknown key
 * @throws rateLimited (429) while the address is paused, for unknown keys and for guessable keys that are new to it
 */
export async function lookUpKey<Found>(
  deps: LicenseDependencies,
  licenseKey: string,
  clientAddress: string,
  read: (keyHash: string) => Promise<Found | null>,
): Promise<Found | null> {
  const key = identifyLicenseKey(deps, licenseKey);
  if (key === null) {
    await recordUnknownKey(deps, clientAddress);
    return null;
  }
  const lookUp = async (): Promise<Found | null> => {
    if (key.isGuessable) await admitKey(deps, key, clientAddress);
    const found = (await read(key.keyHash)) ?? (await readByOtherHash(deps, licenseKey, read));
    if (found === null) await recordUnknownKey(deps, clientAddress);
    else if (key.isGuessable) await recordKnownKey(deps, key, clientAddress);
    return found;
  };
  if (!key.isGuessable || deps.guesses.isKnown(clientAddress, key.keyHash)) return lookUp();
  // Refuses a paused address before it fills the queue.
  await admitKey(deps, key, clientAddress);
  return deps.lookUpLimiter.runForKey(networkOf(clientAddress), lookUp);
}

/**
 * Reads a key that was not found as it was sent, under the current master secret, by the hash under which it is stored: that
 * of its folded form, or one under a previous secret. Costs nothing without both. The current hash is among the candidates,
 * because a rotation may just have rewritten the row.
 */
async function readByOtherHash<Found>(
  deps: LicenseDependencies,
  licenseKey: string,
  read: (keyHash: string) => Promise<Found | null>,
): Promise<Found | null> {
  const candidates = hashWithAllSecrets(deps, licenseKey);
  if (candidates.length < 2) return null;
  const stored = await deps.databaseLimiter.run(() => findStoredKey(deps.pool, candidates));
  return stored === null ? null : read(stored.keyHash);
}

/**
 * Records that a client sent an unknown key.
 * @throws rateLimited (429) while its address is paused
 */
export async function recordUnknownKey(
  deps: LicenseDependencies,
  clientAddress: string,
): Promise<void> {
  throwIfPaused(deps, await deps.guesses.recordFailure(clientAddress));
}

/** @throws rateLimited (429) for a guessable key that is new to a paused address, before it is looked up */
async function admitKey(
  deps: LicenseDependencies,
  key: IdentifiedKey,
  clientAddress: string,
): Promise<void> {
  throwIfPaused(deps, await deps.guesses.admit(clientAddress, key.keyHash));
}

/** @throws rateLimited (429) for a guessable key whose address was paused during the look-up */
async function recordKnownKey(
  deps: LicenseDependencies,
  key: IdentifiedKey,
  clientAddress: string,
): Promise<void> {
  throwIfPaused(deps, await deps.guesses.recordSuccess(clientAddress, key.keyHash));
}

function throwIfPaused(deps: LicenseDependencies, pauseSeconds: number): void {
  if (pauseSeconds === 0) return;
  deps.metrics.countRefusal('license_lookup', 'rate_limited');
  throw rateLimited(pauseSeconds, {
    'ratelimit-policy': GUESS_POLICY,
    ratelimit: `"guesses";r=0;t=${pauseSeconds}`,
  });
}

/** Counts a refusal, and returns the error to throw. */
export function refuse(
  deps: Pick<LicenseDependencies, 'metrics'>,
  operation: string,
  error: PublicError,
): PublicError {
  deps.metrics.countRefusal(operation, error.code);
  return error;
}

/** Counts a refused activation, also for the license, and returns the error to throw. */
export function refuseActivation(
  deps: Pick<LicenseDependencies, 'licenseActivity' | 'metrics'>,
  licenseId: string,
  error: PublicError,
): PublicError {
  deps.licenseActivity.recordRefusal(licenseId, error.code);
  return refuse(deps, 'activate', error);
}

/**
 * Returns the id of the license that an operator names by its key or id; null when no license has that key. An imported
 * key that looks like a UUID is found as a key first.
 */
export async function resolveLicenseId(
  deps: LicenseKeyDependencies & { readonly pool: Pool },
  keyOrId: string,
): Promise<string | null> {
  const keyHashes = hashWithAllSecrets(deps, keyOrId);
  const id = keyHashes.length === 0 ? null : await findLicenseIdByKey(deps.pool, keyHashes);
  if (id !== null) return id;
  return isUuid(keyOrId.trim()) ? keyOrId.trim().toLowerCase() : null;
}
