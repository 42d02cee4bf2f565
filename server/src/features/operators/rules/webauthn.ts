/** Verifies passkeys: WebAuthn Level 3 (https://www.w3.org/TR/webauthn-3/) without attestation. */
import { createHash, createPublicKey, timingSafeEqual, verify, type KeyObject } from 'node:crypto';

/** The host that passkeys belong to, and the origin of its pages. */
export interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

/**
 * Returns the relying party of a service; null where browsers allow no passkeys: without https and for IP addresses.
 * `localhost` is allowed without https.
 */
export function relyingPartyOf(publicUrl: string): RelyingParty | null {
  const { hostname, origin, protocol } = new URL(publicUrl);
  const isAddress = hostname.startsWith('[') || /^[\d.]+$/.test(hostname);
  const isSecure = protocol === 'https:' || hostname === 'localhost';
  return isSecure && !isAddress ? { id: hostname, origin } : null;
}

/** What an authenticator reports, in `authenticatorData` (§6.1). */
export interface AuthenticatorData {
  /** Whether the authenticator verified its user, by a PIN or a finger. */
  readonly isUserVerified: boolean;
  /** Whether the credential is copied to other devices. */
  readonly isSynced: boolean;
  /** 0: the authenticator does not count. */
  readonly signCount: number;
  /** Of a new credential; null otherwise. */
  readonly credentialId: Buffer | null;
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const BACKED_UP = 0x10;
const HAS_CREDENTIAL = 0x40;

const FLAGS_AT = 32;
const COUNT_AT = 33;
const CREDENTIAL_AT = 55;

/** Reads `authenticatorData`; null if it is malformed, of another relying party, or without a present user. */
export function readAuthenticatorData(
  data: Buffer,
  { id }: RelyingParty,
): AuthenticatorData | null {
  if (data.length < COUNT_AT + 4) return null;
  const idHash = createHash('sha256').update(id).digest();
  if (!timingSafeEqual(data.subarray(0, FLAGS_AT), idHash)) return null;
  const flags = data.readUInt8(FLAGS_AT);
  if ((flags & USER_PRESENT) === 0) return null;
  return {
    isUserVerified: (flags & USER_VERIFIED) !== 0,
    isSynced: (flags & BACKED_UP) !== 0,
    signCount: data.readUInt32BE(COUNT_AT),
    credentialId: (flags & HAS_CREDENTIAL) === 0 ? null : readCredentialId(data),
  };
}

function readCredentialId(data: Buffer): Buffer | null {
  if (data.length < CREDENTIAL_AT) return null;
  const length = data.readUInt16BE(CREDENTIAL_AT - 2);
  const id = data.subarray(CREDENTIAL_AT, CREDENTIAL_AT + length);
  return id.length === length && length > 0 ? id : null;
}

/**
 * Returns the challenge of `clientDataJSON` (§5.8.1), in base64url; null if a page of another origin, an embedded page or
 * another operation created it.
 */
export function readChallenge(
  clientData: Buffer,
  type: 'webauthn.create' | 'webauthn.get',
  { origin }: RelyingParty,
): string | null {
  const parsed = parseJson(clientData.toString());
  if (typeof parsed !== 'object' || parsed === null) return null;
  const fields = new Map<string, unknown>(Object.entries(parsed));
  const challenge = fields.get('challenge');
  if (fields.get('type') !== type || fields.get('origin') !== origin) return null;
  if (fields.get('crossOrigin') === true || typeof challenge !== 'string') return null;
  return challenge;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const MIN_RSA_BITS = 2048;

/** Reads a public key in SPKI; null unless it is of ES256, EdDSA (Ed25519) or RS256. */
export function readPublicKey(spki: Buffer): KeyObject | null {
  try {
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
    if (type === 'ed25519') return key;
    if (type === 'ec') return details?.namedCurve === 'prime256v1' ? key : null;
    return type === 'rsa' && (details?.modulusLength ?? 0) >= MIN_RSA_BITS ? key : null;
  } catch {
    // Not a key.
    return null;
  }
}

/** Verifies the signature of an assertion (§7.2, steps 20 and 21). */
export function isSignedBy(
  key: KeyObject,
  {
    authenticatorData,
    clientData,
    signature,
  }: {
    readonly authenticatorData: Buffer;
    readonly clientData: Buffer;
    readonly signature: Buffer;
  },
): boolean {
  const clientDataHash = createHash('sha256').update(clientData).digest();
  const signed = Buffer.concat([authenticatorData, clientDataHash]);
  return verify(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', signed, key, signature);
}

/**
 * Returns whether the counter of a use may follow the stored one. A lower one reveals a copied authenticator; the devices
 * of a synced passkey count independently, or not at all.
 */
export function isCounterPlausible(
  stored: number,
  { isSynced, signCount }: Pick<AuthenticatorData, 'isSynced' | 'signCount'>,
): boolean {
  return isSynced || (stored === 0 && signCount === 0) || signCount > stored;
}
