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

/** Returns only the hash of {@link identifyLicenseKey}. */
export function hashLicenseKey(ctx: LicenseKeyContext, licenseKey: string): string | null {
  return identifyLicenseKey(ctx, licenseKey)?.keyHash ?? null;
}

/**
 * {@link hashLicenseKey} for a key that a license is to have.
 * @throws {Error} for a mistyped one, which nobody could use
 */
export function requireKeyHash(ctx: LicenseKeyContext, licenseKey: string): string {
  const keyHash = hashLicenseKey(ctx, licenseKey);
  if (keyHash === null) throw new Error('the key has a wrong checksum');
  return keyHash;
}
