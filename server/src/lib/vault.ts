import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';

/** The shortest master secret that is accepted. */
export const MIN_MASTER_SECRET_BYTES = 32;

/** Length of a secret's id, at the start of every keyed hash and after the version of every sealed text. */
const SECRET_ID_BYTES = 3;

/** Hexadecimal digits of a secret's id. */
export const SECRET_ID_DIGITS = 2 * SECRET_ID_BYTES;

/** The keyed hashes (HMAC-SHA256) of one master secret. Each begins with the id of the secret. */
export interface KeyedHashes {
  /** Identifies the master secret without revealing it: 6 hex digits, the first ones of every hash. */
  readonly secretId: string;
  /** Hashes a license key for storage and look-up: 64 hex digits. */
  hashLookup(lookup: string): string;
  /** Hashes one named value of a machine's fingerprint: 64 hex digits. */
  hashComponent(name: string, value: string): string;
  /** Hashes any other text, differently for each label (an ASCII word such as `email`): 64 hex digits. */
  hashText(label: string, text: string): string;
}

/**
 * Protects values that must not be readable in the database: keyed hashes for look-ups, and encrypted copies of values
 * that are shown again. Every purpose has a key of its own, so that its hashes are unrelated to those of another.
 */
export interface Vault extends KeyedHashes {
  /**
   * The hashes under the previous master secrets, for rows that were not rewritten yet. Empty except during a rotation.
   */
  readonly previous: readonly KeyedHashes[];
  /**
   * Encrypts and authenticates a text under the current master secret.
   * @param aad the record that the text belongs to, such as `license:<id>`; `open` fails with another one
   */
  seal(plaintext: string, aad: string): Buffer;
  /**
   * Decrypts the result of `seal`, under the current or a previous master secret.
   * @throws UnknownSecretError when it was sealed under another master secret
   * @throws {Error} when the bytes were changed or belong to another `aad`
   */
  open(sealed: Uint8Array, aad: string): string;
  /** Whether a text is sealed under the current master secret, by its id. */
  isCurrent(sealed: Uint8Array): boolean;
}

/** A text was sealed under a master secret that is not configured. */
export class UnknownSecretError extends Error {
  constructor(secretId: string) {
    super(`sealed under a master secret that is not configured (id ${secretId})`);
    this.name = 'UnknownSecretError';
  }
}

/**
 * Creates a vault.
 * @param secret at least `MIN_MASTER_SECRET_BYTES` bytes (of a text its UTF-8), which decrypt every key
 * @param previousSecrets secrets that rows may still be stored under; nothing is written with them
 * @throws {RangeError} when a secret is shorter, or when two of them have the same id
 */
export function createVault(
  secret: string | Uint8Array,
  previousSecrets: readonly (string | Uint8Array)[] = [],
): Vault {
  const current = deriveKeys(secret);
  const previous = previousSecrets.map(deriveKeys);
  const keys = new Map([current, ...previous].map((each) => [each.hashes.secretId, each]));
  if (keys.size <= previous.length) throw new RangeError('two master secrets have the same id');
  const currentId = Buffer.from(current.hashes.secretId, 'hex');
  return {
    ...current.hashes,
    previous: previous.map(({ hashes }) => hashes),
    seal: (plaintext, aad) => seal(current.sealingKey, currentId, plaintext, aad),
    open: (sealed, aad) => {
      const secretId = readSecretId(sealed).toString('hex');
      const known = keys.get(secretId);
      if (known === undefined) throw new UnknownSecretError(secretId);
      return open(known.sealingKey, sealed, aad);
    },
    isCurrent: (sealed) => readSecretId(sealed).equals(currentId),
  };
}

interface DerivedKeys {
  readonly hashes: KeyedHashes;
  readonly sealingKey: KeyObject;
}

function deriveKeys(secret: string | Uint8Array): DerivedKeys {
  const masterSecret = Buffer.from(secret);
  if (masterSecret.byteLength < MIN_MASTER_SECRET_BYTES) {
    throw new RangeError(`a master secret needs at least ${MIN_MASTER_SECRET_BYTES} bytes`);
  }
  const secretId = deriveKey(masterSecret, 'id').toString('hex', 0, SECRET_ID_BYTES);
  const createHash = (purpose: string): ((text: string) => string) => {
    // A key object: with the bytes of the key, `createHmac` is eight times as slow.
    const key = createSecretKey(deriveKey(masterSecret, purpose));
    return (text) =>
      secretId + createHmac('sha256', key).update(text).digest('hex').slice(SECRET_ID_DIGITS);
  };
  const hashComponent = createHash('component');
  const hashText = createHash('text');
  return {
    hashes: {
      secretId,
      hashLookup: createHash('lookup'),
      // The length distinguishes ("a", "bc") from ("ab", "c").
      hashComponent: (name, value) => hashComponent(`${name.length}:${name}${value}`),
      hashText: (label, text) => hashText(`${label.length}:${label}${text}`),
    },
    // A key object too: the cipher would create one each time, which was three quarters of the 80 µs of `seal`.
    sealingKey: createSecretKey(deriveKey(masterSecret, 'seal')),
  };
}

/** Derives the key of one purpose from the master secret: HKDF with SHA-256 (RFC 5869). */
function deriveKey(masterSecret: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', masterSecret, '', `latchkey/v1/${purpose}`, 32));
}

const SEAL_VERSION = 2;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NONCE_START = 1 + SECRET_ID_BYTES;
const CIPHERTEXT_START = NONCE_START + NONCE_BYTES;

/** AES-256-GCM; the layout is one version byte, the id of the secret, the random nonce, the ciphertext, the tag. */
function seal(key: KeyObject, secretId: Buffer, plaintext: string, aad: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(aad, 'utf8'));
  const ciphertext = cipher.update(plaintext, 'utf8');
  cipher.final();
  return Buffer.concat([Buffer.of(SEAL_VERSION), secretId, nonce, ciphertext, cipher.getAuthTag()]);
}

function readSecretId(sealed: Uint8Array): Buffer {
  if (sealed[0] !== SEAL_VERSION || sealed.byteLength < CIPHERTEXT_START + TAG_BYTES) {
    throw new Error('not a sealed text of a known version');
  }
  return Buffer.from(sealed.subarray(1, NONCE_START));
}

function open(key: KeyObject, sealed: Uint8Array, aad: string): string {
  const nonce = sealed.subarray(NONCE_START, CIPHERTEXT_START);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(aad, 'utf8'));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const plaintext = decipher.update(sealed.subarray(CIPHERTEXT_START, -TAG_BYTES));
  return Buffer.concat([plaintext, decipher.final()]).toString('utf8');
}
