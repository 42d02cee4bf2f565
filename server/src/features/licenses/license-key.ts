import type { Context } from '#server/context.ts';
import { countSecretSymbols } from '#server/lib/key-strength.ts';
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
