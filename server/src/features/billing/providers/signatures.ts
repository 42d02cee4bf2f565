import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import type { VerifyOptions } from './adapter.ts';

type SignatureEncoding = 'hex' | 'base64';

/** An HMAC-SHA256 has 32 bytes. */
const FORMS: Readonly<Record<SignatureEncoding, RegExp>> = {
  hex: /^[0-9a-f]{64}$/i,
  base64: /^[A-Za-z0-9+/]{43}=$/,
};

/** Seconds since 1970 without sign or leading zeros, up to the year 33658. */
const UNIX_TIME = /^(?:0|[1-9][0-9]{0,11})$/;

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
