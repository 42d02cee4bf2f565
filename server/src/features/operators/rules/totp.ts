/** One-time codes (TOTP, RFC 6238) as all authenticators support them: SHA-1, 6 digits, 30 seconds. */
import { createHmac } from 'node:crypto';

const STEP_MS = 30_000;
const DIGITS = 6;

/** Steps before and after the current one whose codes are accepted, for clocks that differ. */
const TOLERATED_STEPS = 1;

/** 160 bits, as RFC 4226 §4 recommends. */
const SECRET_BYTES = 20;

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Creates a secret in base32. @param randomBytes a cryptographically strong source */
export function createTotpSecret(randomBytes: (count: number) => Buffer): string {
  return toBase32(randomBytes(SECRET_BYTES));
}

/** Encodes bytes in base32 (RFC 4648) without padding; the number of bits must be a multiple of five. */
export function toBase32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? [])
    .map((five) => BASE32.charAt(Number.parseInt(five, 2)))
    .join('');
}

function fromBase32(text: string): Buffer {
  const bits = Array.from(text, (symbol) => BASE32.indexOf(symbol).toString(2).padStart(5, '0'));
  const bytes = bits.join('').match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}

/** Returns the code of a time step. */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const offset = digest.readUInt8(digest.length - 1) & 0xf;
  const number = digest.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** Returns the time step of a time. */
export function totpStep(now: Date): number {
  return Math.floor(now.getTime() / STEP_MS);
}

/** Returns the time step that a code belongs to, at most one before or after the current one; null if none. */
export function findTotpStep(secret: string, code: string, now: Date): number | null {
  const current = totpStep(now);
  let found: number | null = null;
  // All steps are computed, so that the time does not depend on which one matches.
  for (let step = current - TOLERATED_STEPS; step <= current + TOLERATED_STEPS; step += 1) {
    if (totpCode(secret, step) === code) found = step;
  }
  return found;
}

/** Returns whether a text has the form of a one-time code. */
export function isTotpCode(text: string): boolean {
  return /^\d{6}$/.test(text);
}

/** Returns a secret as a URI for authenticators (Key Uri Format). @param host names the service in the app */
export function totpUri(secret: string, email: string, host: string): string {
  const issuer = `Latchkey ${host}`;
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=6&period=30`;
}
