import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

/** The size of SHA-256; Standard Webhooks requires 24 to 64. */
const SECRET_BYTES = 32;

/** Generates a signing secret. @param randomBytes a cryptographically strong source */
export function generateWebhookSecret(randomBytes: (count: number) => Uint8Array): string {
  return PREFIX + Buffer.from(randomBytes(SECRET_BYTES)).toString('base64');
}

export interface SignableMessage {
  readonly id: string;
  readonly payload: string;
}

/**
 * Returns the headers of a message by Standard Webhooks 1.0.0 (https://www.standardwebhooks.com).
 * @param secrets `whsec_…`; each creates a signature, and receivers accept any of them
 * @param sentAt of this attempt, because receivers refuse messages older than five minutes
 */
export function signMessage(
  { id, payload }: SignableMessage,
  secrets: readonly string[],
  sentAt: Date,
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const timestamp = String(Math.floor(sentAt.getTime() / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${payload}`);
    return `v1,${signature.digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
