import type { Context } from '#server/context.ts';
import { readLicenseKey } from '#server/lib/license-key.ts';

/** What reading a license key needs of the context. */
export type LicenseKeyContext = Pick<Context, 'catalog' | 'vault'>;

/** A key that a license may have. */
export interface IdentifiedKey {
  /** What a license is found by: a keyed hash, 64 hex digits. */
  readonly keyHash: string;
  /** Created elsewhere, so it may be guessable; the service's own keys have 115 random bits. */
  readonly isForeign: boolean;
}

/**
 * Reads a key as a client sent it.
 * @returns null for a mistyped key, which no license has: so the database need not be asked
 */
export function identifyLicenseKey(
  ctx: LicenseKeyContext,
  licenseKey: string,
): IdentifiedKey | null {
  const reading = readLicenseKey(licenseKey, ctx.catalog().keyPrefix);
  if (reading.kind === 'mistyped') return null;
  return { keyHash: ctx.vault.hashLookup(reading.lookup), isForeign: reading.kind === 'foreign' };
}

/**
 * The hashes of a key under the current master secret and the previous ones, the current one first.
 * @returns an empty list for a mistyped key
 */
export function hashUnderAllSecrets(ctx: LicenseKeyContext, licenseKey: string): string[] {
  const reading = readLicenseKey(licenseKey, ctx.catalog().keyPrefix);
  if (reading.kind === 'mistyped') return [];
  return [ctx.vault, ...ctx.vault.previous].map((hashes) => hashes.hashLookup(reading.lookup));
}

/**
 * Returns the hash of a key that a license is to have.
 * @throws {Error} for a mistyped one, which nobody could use
 */
export function requireKeyHash(ctx: LicenseKeyContext, licenseKey: string): string {
  const key = identifyLicenseKey(ctx, licenseKey);
  if (key === null) throw new Error('the key has a wrong checksum');
  return key.keyHash;
}
