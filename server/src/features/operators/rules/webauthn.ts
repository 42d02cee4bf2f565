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
  /** Whether the credential may be copied to other devices (BE), which never changes. */
  readonly isBackupEligible: boolean;
  /** Whether the credential is copied to other devices (BS). */
  readonly isSynced: boolean;
  /** 0: the authenticator does not count. */
  readonly signCount: number;
  /** Of a new credential; null otherwise. */
  readonly credentialId: Buffer | null;
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const BACKUP_ELIGIBLE = 0x08;
const BACKED_UP = 0x10;
const HAS_CREDENTIAL = 0x40;

const FLAGS_AT = 32;
const COUNT_AT = 33;
const CREDENTIAL_AT = 55;

/** §7.1, step 25. */
const MAX_CREDENTIAL_ID_BYTES = 1_023;

/**
 * Reads `authenticatorData`; null if it is malformed, of another relying party, without a present user, or copied without being
 * eligible for that (§7.1, steps 14 to 17; §7.2, steps 16 to 19).
 */
export function readAuthenticatorData(
  data: Buffer,
  { id }: RelyingParty,
): AuthenticatorData | null {
  if (data.length < COUNT_AT + 4) return null;
  const idHash = createHash('sha256').update(id).digest();
  if (!timingSafeEqual(data.subarray(0, FLAGS_AT), idHash)) return null;
  const flags = data.readUInt8(FLAGS_AT);
  if ((flags & USER_PRESENT) === 0) return null;
  const isBackupEligible = (flags & BACKUP_ELIGIBLE) !== 0;
  const isSynced = (flags & BACKED_UP) !== 0;
  if (isSynced && !isBackupEligible) return null;
  return {
    isUserVerified: (flags & USER_VERIFIED) !== 0,
    isBackupEligible,
    isSynced,
    signCount: data.readUInt32BE(COUNT_AT),
    credentialId: (flags & HAS_CREDENTIAL) === 0 ? null : readCredentialId(data),
  };
}

function readCredentialId(data: Buffer): Buffer | null {
  if (data.length < CREDENTIAL_AT) return null;
  const length = data.readUInt16BE(CREDENTIAL_AT - 2);
  const id = data.subarray(CREDENTIAL_AT, CREDENTIAL_AT + length);
  return id.length === length && length > 0 && length <= MAX_CREDENTIAL_ID_BYTES ? id : null;
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
  // A page that is embedded in one of another origin states one of these, or both.
  if ((fields.get('crossOrigin') ?? false) !== false || fields.has('topOrigin')) return null;
  return typeof challenge === 'string' ? challenge : null;
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

/** The facts of a stored passkey that its uses must agree with. */
export interface StoredState {
  readonly signCount: number;
  /** Null: an earlier version registered the passkey, and it was not used since. */
  readonly isBackupEligible: boolean | null;
}

/**
 * Returns whether a use may follow the stored state (§7.2, steps 20 and 25). Another eligibility than that of the registration,
 * or a counter that does not grow, reveals a copied authenticator. Only the devices of an eligible, synced passkey count
 * independently; where the eligibility is not stored, a use must not claim that.
 */
export function isUsePlausible(
  stored: StoredState,
  { isBackupEligible, isSynced, signCount }: UseState,
): boolean {
  if (isBackupEligible !== (stored.isBackupEligible ?? isBackupEligible)) return false;
  if (isSynced && stored.isBackupEligible === true) return true;
  return (stored.signCount === 0 && signCount === 0) || signCount > stored.signCount;
}

type UseState = Pick<AuthenticatorData, 'isBackupEligible' | 'isSynced' | 'signCount'>;
