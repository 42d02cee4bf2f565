import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import type { Verification, VerifyOptions } from './adapter.ts';

type SignatureEncoding = 'hex' | 'base64';

/** An HMAC-SHA256 has 32 bytes. */
const FORMS: Readonly<Record<SignatureEncoding, RegExp>> = {
  hex: /^[0-9a-f]{64}$/i,
  base64: /^[A-Za-z0-9+/]{43}=$/,
};

/** Seconds since 1970 without sign or leading zeros, up to the year 33658. */
const UNIX_TIME = /^(?:0|[1-9][0-9]{0,11})$/;

/** The tolerance of the libraries of Stripe and Standard Webhooks; a smaller setting does not apply to them. */
export const MIN_TOLERANCE_SECONDS = 300;

/** Reads a header that must occur once; null if it is missing or empty. */
export function readHeader(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Decodes an HMAC-SHA256; null if it is malformed. */
export function readSignature(text: string, encoding: SignatureEncoding): Buffer | null {
  return FORMS[encoding].test(text) ? Buffer.from(text, encoding) : null;
}

/** Reads the signed time in seconds since 1970; null if it is malformed. */
export function readUnixTime(text: string): number | null {
  return UNIX_TIME.test(text) ? Number(text) : null;
}

/**
 * Whether any of the signatures is the HMAC-SHA256 (RFC 2104) of the message under any of the secrets, in constant time.
 * Texts are encoded as UTF-8.
 * @param message the signed parts, in order
 */
export function matchesHmac(
  message: readonly (string | Uint8Array)[],
  secrets: readonly (string | Uint8Array)[],
  signatures: readonly Uint8Array[],
): boolean {
  let matches = false;
  for (const secret of secrets) {
    const expected = computeHmac(message, secret);
    for (const signature of signatures) {
      const isEqual = signature.length === expected.length && timingSafeEqual(signature, expected);
      matches = isEqual || matches;
    }
  }
  return matches;
}

/** Whether the signed time is within the tolerance, before or after now. */
export function isTimely(
  signedAtSeconds: number,
  { now, toleranceSeconds }: Pick<VerifyOptions, 'now' | 'toleranceSeconds'>,
): boolean {
  return Math.abs(now.getTime() - signedAtSeconds * 1000) <= toleranceSeconds * 1000;
}

function computeHmac(
  message: readonly (string | Uint8Array)[],
  secret: string | Uint8Array,
): Buffer {
  const hmac = createHmac('sha256', secret);
  for (const part of message) hmac.update(part);
  return hmac.digest();
}

/** The keys of a signature header that contains a time, and HMACs of the time and the body. */
interface TimedSignatureFormat {
  readonly timeKey: string;
  readonly signatureKey: string;
  /** Separates the time from the body in the signed message. */
  readonly joiner: string;
}

/**
 * Verifies a header of that format. Unknown keys are ignored; one valid signature under any secret is enough.
 * @param pairs the `key=value` pairs of the header; null if it is missing
 */
export function verifyTimedSignature(
  pairs: readonly string[] | null,
  rawBody: Buffer,
  format: TimedSignatureFormat,
  options: VerifyOptions,
): Verification {
  if (pairs === null) return 'missing';
  const times = valuesOf(pairs, format.timeKey).map(readUnixTime);
  const signatures = valuesOf(pairs, format.signatureKey).flatMap(
    (value) => readSignature(value, 'hex') ?? [],
  );
  const [time] = times;
  // With two times it is ambiguous which one was signed.
  if (times.length !== 1 || time == null || signatures.length === 0) {
    return 'malformed';
  }
  // The time has a single textual form, so these are the signed bytes.
  if (!matchesHmac([`${time}${format.joiner}`, rawBody], options.secrets, signatures)) {
    return 'mismatch';
  }
  return isTimely(time, options) ? 'valid' : 'stale';
}

function valuesOf(pairs: readonly string[], key: string): string[] {
  const prefix = `${key}=`;
  return pairs.filter((pair) => pair.startsWith(prefix)).map((pair) => pair.slice(prefix.length));
}
