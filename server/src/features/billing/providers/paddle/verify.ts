import type { Verification, VerifyOptions, WebhookDelivery } from '../adapter.ts';
import { isTimely, matchesHmac, readHeader, readSignature, readUnixTime } from '../signatures.ts';

/** The header's name in this interface, and at Paddle. */
const HEADERS = ['billing-signature', 'paddle-signature'];

/**
 * Verifies a signature of Paddle Billing: the header is `ts=<unix seconds>;h1=<hex>[;h1=<hex>…]`, other keys are ignored,
 * and `h1` is the HMAC-SHA256 of `ts`, a colon and the raw body under the endpoint's secret, including its prefix. There
 * are several `h1` while a secret is rotated; one valid signature under any secret is enough.
 * @see https://developer.paddle.com/webhooks/signature-verification
 */
export function verifyPaddle(
  { headers, rawBody }: WebhookDelivery,
  options: VerifyOptions,
): Verification {
  const header = HEADERS.map((name) => readHeader(headers, name)).find((value) => value !== null);
  if (header == null) return { ok: false, reason: 'missing' };
  const signed = readSignatureHeader(header);
  if (signed === null) return { ok: false, reason: 'malformed' };
  // The time has a single textual form, so these are the signed bytes.
  const message = [`${signed.atSeconds}:`, rawBody];
  if (!matchesHmac(message, options.secrets, signed.signatures)) {
    return { ok: false, reason: 'mismatch' };
  }
  return isTimely(signed.atSeconds, options) ? { ok: true } : { ok: false, reason: 'stale' };
}

interface SignatureHeader {
  readonly atSeconds: number;
  readonly signatures: readonly Buffer[];
}

function readSignatureHeader(header: string): SignatureHeader | null {
  const times: (number | null)[] = [];
  const signatures: Buffer[] = [];
  for (const part of header.split(';')) {
    if (part.startsWith('ts=')) times.push(readUnixTime(part.slice(3)));
    if (part.startsWith('h1=')) {
      const signature = readSignature(part.slice(3), 'hex');
      if (signature !== null) signatures.push(signature);
    }
  }
  const [atSeconds] = times;
  // With two times it is ambiguous which one was signed.
  if (times.length !== 1 || atSeconds == null || signatures.length === 0) return null;
  return { atSeconds, signatures };
}
