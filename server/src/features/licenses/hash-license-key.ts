import type { Context } from '#server/context.ts';
import { readLicenseKey } from '#server/lib/license-key.ts';

/** What reading a license key needs of the context. */
export type LicenseKeyContext = Pick<Context, 'catalog' | 'vault'>;

/**
 * What a license is found by when its key is sent: a keyed hash, 64 hex digits.
 * @returns null for a mistyped key, which no license has: so the database need not be asked
 */
export function hashLicenseKey(ctx: LicenseKeyContext, licenseKey: string): string | null {
  const reading = readLicenseKey(licenseKey, ctx.catalog().keyPrefix);
  return reading.kind === 'mistyped' ? null : ctx.vault.hashLookup(reading.lookup);
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
