import type { Verification, VerifyOptions, WebhookDelivery } from '../adapter.ts';
import { matchesHmac, readHeader, readSignature } from '../signatures.ts';

/**
 * Verifies a delivery by Lemon Squeezy's scheme: `X-Signature` is the HMAC-SHA256 of the raw body under the webhook's
 * secret, in hexadecimal. No time is signed, so nothing is ever stale: what is sent again is known by its event's id, which
 * is made of the body.
 * @see https://docs.lemonsqueezy.com/help/webhooks/signing-requests
 */
export function verifyLemonSqueezy(
  { headers, rawBody }: WebhookDelivery,
  { secrets }: VerifyOptions,
): Verification {
  const header = readHeader(headers, 'x-signature');
  if (header === null) return { ok: false, reason: 'missing' };
  const signature = readSignature(header, 'hex');
  if (signature === null) return { ok: false, reason: 'malformed' };
  return matchesHmac([rawBody], secrets, [signature])
    ? { ok: true }
    : { ok: false, reason: 'mismatch' };
}
