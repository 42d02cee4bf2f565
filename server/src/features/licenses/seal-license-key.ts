import { countSecretSymbols } from '#server/lib/key-strength.ts';

import { identifyLicenseKey, requireKeyHash, type LicenseKeyContext } from './hash-license-key.ts';

const MAX_HINT_SYMBOLS = 4;

/** A hint shows at most this part of what is secret in a key. */
const HINT_SHARE = 1 / 4;

/** What a license key is sealed under: it opens for its own license only. */
export function licenseKeyLabel(licenseId: string): string {
  return `license:${licenseId}`;
}

/** A key as it is stored. */
export interface StoredKey {
  /** A keyed hash, 64 hex digits. */
  readonly keyHash: string;
  readonly keySealed: Buffer;
  /** The last symbols, for people; empty when the key is too short to show any. */
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
    keyHint: hintOf(licenseKey.trim()),
  };
}

function hintOf(key: string): string {
  const symbols = Math.floor(countSecretSymbols(key) * HINT_SHARE);
  return symbols === 0 ? '' : Array.from(key).slice(-Math.min(symbols, MAX_HINT_SYMBOLS)).join('');
}

/** Whether a text is the key that a license has now, in whatever spelling. */
export function isKeyOf(
  ctx: LicenseKeyContext,
  license: { readonly id: string; readonly keySealed: Buffer },
  licenseKey: string,
): boolean {
  const current = ctx.vault.open(license.keySealed, licenseKeyLabel(license.id));
  const presented = identifyLicenseKey(ctx, licenseKey);
  return presented !== null && presented.keyHash === identifyLicenseKey(ctx, current)?.keyHash;
}
