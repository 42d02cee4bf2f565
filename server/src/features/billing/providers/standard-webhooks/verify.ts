import { createPublicKey, verify as verifySignature, type KeyObject } from 'node:crypto';

import type { Verification, VerifyOptions, WebhookDelivery } from '../adapter.ts';
import {
  isTimely,
  matchesHmac,
  MIN_TOLERANCE_SECONDS,
  readHeader,
  readSignature,
  readUnixTime,
} from '../signatures.ts';

const SECRET_PREFIX = 'whsec_';
const PUBLIC_KEY_PREFIX = 'whpk_';

/** Excludes the full stop, which separates the id from the time in the signed text. */
const MESSAGE_ID = /^[\x21-\x2d\x2f-\x7e]{1,200}$/;

/** An Ed25519 signature has 64 bytes. */
const ED25519_SIGNATURE = /^[A-Za-z0-9+/]{86}==$/;

/** A rotation of keys needs only a few. */
const MAX_SIGNATURES = 20;

/** The bytes before the 32 bytes of the public key in SubjectPublicKeyInfo (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/**
 * Verifies a signature of the Standard Webhooks specification 1.0.0: `webhook-signature` lists signatures of `webhook-id`,
 * `webhook-timestamp` and the raw body, joined by full stops. `v1` is an HMAC-SHA256 under a secret that is decoded from
 * base64 (`whsec_…`), `v1a` an Ed25519 signature under a public key (`whpk_…`). One valid signature under any secret is
 * enough; other versions are ignored.
 * @param readKey reads the key of an HMAC from a secret; default: as the specification does
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function verifyStandardWebhook(
  { headers, rawBody }: WebhookDelivery,
  options: VerifyOptions,
  readKey: (secret: string) => Buffer = readSecret,
): Verification {
  const id = readHeader(headers, 'webhook-id');
  const timestamp = readHeader(headers, 'webhook-timestamp');
  const list = readHeader(headers, 'webhook-signature');
  if (id === null || timestamp === null || list === null) return 'missing';
  const atSeconds = readUnixTime(timestamp);
  const signatures = readSignatures(list);
  if (atSeconds === null || signatures === null || !MESSAGE_ID.test(id)) {
    return 'malformed';
  }
  const message = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), rawBody]);
  if (!isSigned(message, options.secrets, signatures, readKey)) return 'mismatch';
  const toleranceSeconds = Math.max(options.toleranceSeconds, MIN_TOLERANCE_SECONDS);
  return isTimely(atSeconds, { now: options.now, toleranceSeconds }) ? 'valid' : 'stale';
}

interface Signatures {
  readonly hmacs: readonly Buffer[];
  readonly ed25519: readonly Buffer[];
}

function readSignatures(list: string): Signatures | null {
  const entries = list.split(' ').slice(0, MAX_SIGNATURES);
  const hmacs = entries
    .filter((entry) => entry.startsWith('v1,'))
    .flatMap((entry) => readSignature(entry.slice(3), 'base64') ?? []);
  const ed25519 = entries
    .filter((entry) => entry.startsWith('v1a,'))
    .map((entry) => entry.slice(4))
    .filter((text) => ED25519_SIGNATURE.test(text))
    .map((text) => Buffer.from(text, 'base64'));
  return hmacs.length === 0 && ed25519.length === 0 ? null : { hmacs, ed25519 };
}

function isSigned(
  message: Buffer,
  secrets: readonly string[],
  { hmacs, ed25519 }: Signatures,
  readKey: (secret: string) => Buffer,
): boolean {
  const shared = secrets
    .filter((secret) => !secret.startsWith(PUBLIC_KEY_PREFIX))
    .map(readKey)
    .filter((secret) => secret.length > 0);
  const publicKeys = secrets
    .filter((secret) => secret.startsWith(PUBLIC_KEY_PREFIX))
    .flatMap((secret) => readPublicKey(secret) ?? []);
  if (matchesHmac([message], shared, hmacs)) return true;
  // Public keys and signatures are not secret, so constant time is not needed.
  return publicKeys.some((key) =>
    ed25519.some((signature) => verifySignature(null, message, key, signature)),
  );
}

function readSecret(secret: string): Buffer {
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  return Buffer.from(text, 'base64');
}

function readPublicKey(text: string): KeyObject | null {
  const bytes = Buffer.from(text.slice(PUBLIC_KEY_PREFIX.length), 'base64');
  if (bytes.length !== 32) return null;
  return createPublicKey({
    key: Buffer.concat([SPKI_PREFIX, bytes]),
    format: 'der',
    type: 'spki',
  });
}
