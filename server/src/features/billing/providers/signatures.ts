import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import type { VerifyOptions } from './adapter.ts';

/** How a provider writes a signature down. */
type SignatureEncoding = 'hex' | 'base64';

/** An HMAC-SHA256 has 32 bytes. */
const FORMS: Readonly<Record<SignatureEncoding, RegExp>> = {
  hex: /^[0-9a-f]{64}$/i,
  base64: /^[A-Za-z0-9+/]{43}=$/,
};

/** Seconds since 1970 as they are written: no sign, no zeros in front, not beyond the year 33658. */
const UNIX_TIME = /^(?:0|[1-9][0-9]{0,11})$/;

/** Reads a header that is to be there once; null when it is not there or empty. */
export function readHeader(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Reads a HMAC-SHA256 from a header; null for what cannot be one. */
export function readSignature(text: string, encoding: SignatureEncoding): Buffer | null {
  return FORMS[encoding].test(text) ? Buffer.from(text, encoding) : null;
}

/** Reads the time that a signature is for, in seconds since 1970; null for what is none. */
export function readUnixTime(text: string): number | null {
  return UNIX_TIME.test(text) ? Number(text) : null;
}

/**
 * Says whether any of the signatures is the HMAC-SHA256 (RFC 2104) of the message under any of the secrets. Takes the same
 * time whichever of them agrees, or none.
 * @param message the parts that were signed, one after the other; a text is its UTF-8
 * @param secrets a text is taken as its UTF-8, whole
 * @param signatures as `readSignature` gives them
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
      const agrees = signature.length === expected.length && timingSafeEqual(signature, expected);
      matches = agrees || matches;
    }
  }
  return matches;
}

/** Says whether a signed time is near enough to now, before or after. */
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
