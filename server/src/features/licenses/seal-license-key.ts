import { requireKeyHash, type LicenseKeyContext } from './hash-license-key.ts';

const HINT_SYMBOLS = 4;

/** What a license key is sealed under: it opens for its own license only. */
export function licenseKeyLabel(licenseId: string): string {
  return `license:${licenseId}`;
}

/** A key as it is stored. */
export interface StoredKey {
  /** A keyed hash, 64 hex digits. */
  readonly keyHash: string;
  readonly keySealed: Buffer;
  /** The last symbols, for people. */
  readonly keyHint: string;
}

/**
 * Turns a key into what is stored of it.
 * @throws {Error} for a mistyped key, which nobody could use
 */
export function sealLicenseKey(
  ctx: LicenseKeyContext,
  licenseId: string,
  licenseKey: string,
): StoredKey {
  return {
    keyHash: requireKeyHash(ctx, licenseKey),
    keySealed: ctx.vault.seal(licenseKey.trim(), licenseKeyLabel(licenseId)),
    keyHint: licenseKey.trim().slice(-HINT_SYMBOLS),
  };
}
