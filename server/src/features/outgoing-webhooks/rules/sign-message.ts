import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

/** As many as SHA-256 gives; Standard Webhooks asks for 24 to 64. */
const SECRET_BYTES = 32;

/** Makes a signing secret. @param randomBytes a cryptographically strong source */
export function generateWebhookSecret(randomBytes: (count: number) => Uint8Array): string {
  return PREFIX + Buffer.from(randomBytes(SECRET_BYTES)).toString('base64');
}

/** What is signed and sent. */
export interface SignableMessage {
  readonly id: string;
  readonly payload: string;
}

/**
 * The headers of a message by Standard Webhooks 1.0.0 (https://www.standardwebhooks.com).
 * @param secrets `whsec_…`; each gives a signature, and a receiver takes any of them
 * @param sentAt to the second; receivers refuse what is more than five minutes old, so each attempt has its own
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
