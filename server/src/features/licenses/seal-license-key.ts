import { readLicenseKey } from '#server/lib/license-key.ts';
import type { Vault } from '#server/lib/vault.ts';

const HINT_SYMBOLS = 4;

/** What a license key is sealed under: it opens for its own license only. */
export function licenseKeyLabel(licenseId: string): string {
  return `license:${licenseId}`;
}

/** A key as it is stored. */
export interface StoredKey {
  readonly keyHash: Buffer;
  readonly keySealed: Buffer;
  /** The last symbols, for people. */
  readonly keyHint: string;
}

/**
 * What a license is found by when its key is sent.
 * @throws {Error} for a key that reads as mistyped, which nobody could use
 */
export function hashLicenseKey(
  vault: Pick<Vault, 'hashLookup'>,
  keyPrefix: string,
  licenseKey: string,
): Buffer {
  const reading = readLicenseKey(licenseKey, keyPrefix);
  if (reading.kind === 'mistyped') throw new Error('the key has a wrong checksum');
  return Buffer.from(vault.hashLookup(reading.lookup), 'hex');
}

/**
 * Turns a key into what is stored of it.
 * @throws {Error} for a key that reads as mistyped, which nobody could use
 */
export function sealLicenseKey(
  vault: Vault,
  keyPrefix: string,
  licenseId: string,
  licenseKey: string,
): StoredKey {
  return {
    keyHash: hashLicenseKey(vault, keyPrefix, licenseKey),
    keySealed: vault.seal(licenseKey.trim(), licenseKeyLabel(licenseId)),
    keyHint: licenseKey.trim().slice(-HINT_SYMBOLS),
  };
}
