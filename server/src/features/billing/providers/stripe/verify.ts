import type { Verification, VerifyOptions, WebhookDelivery } from '../adapter.ts';
import { isTimely, matchesHmac, readHeader, readSignature, readUnixTime } from '../signatures.ts';

/** The tolerance of Stripe's libraries; a smaller setting applies only to providers that sign at delivery. */
const MIN_TOLERANCE_SECONDS = 300;

/**
 * Verifies a signature of Stripe: the header is `t=<unix seconds>,v1=<hex>[,v1=<hex>…]`, other schemes (`v0`) are ignored,
 * and `v1` is the HMAC-SHA256 of `t`, a full stop and the raw body under the endpoint's secret, including its prefix
 * `whsec_`. There are several `v1` while a secret is rotated; one valid signature under any secret is enough. Unlike
 * Stripe's libraries, times in the future are refused too.
 * @see https://docs.stripe.com/webhooks?verify=verify-manually
 */
export function verifyStripe(
  { headers, rawBody }: WebhookDelivery,
  options: VerifyOptions,
): Verification {
  const header = readHeader(headers, 'stripe-signature');
  if (header === null) return { ok: false, reason: 'missing' };
  const signed = readSignatureHeader(header);
  if (signed === null) return { ok: false, reason: 'malformed' };
  const message = [`${signed.atSeconds}.`, rawBody];
  if (!matchesHmac(message, options.secrets, signed.signatures)) {
    return { ok: false, reason: 'mismatch' };
  }
  const toleranceSeconds = Math.max(options.toleranceSeconds, MIN_TOLERANCE_SECONDS);
  return isTimely(signed.atSeconds, { now: options.now, toleranceSeconds })
    ? { ok: true }
    : { ok: false, reason: 'stale' };
}

interface SignatureHeader {
  readonly atSeconds: number;
  readonly signatures: readonly Buffer[];
}

function readSignatureHeader(header: string): SignatureHeader | null {
  const parts = header.split(',').map((part) => part.trim());
  const times = parts.filter((part) => part.startsWith('t=')).map((part) => part.slice(2));
  const signatures = parts
    .filter((part) => part.startsWith('v1='))
    .flatMap((part) => readSignature(part.slice(3), 'hex') ?? []);
  const atSeconds = readUnixTime(times[0] ?? '');
  // With two times it is ambiguous which one was signed.
  if (times.length !== 1 || atSeconds === null || signatures.length === 0) return null;
  return { atSeconds, signatures };
}
