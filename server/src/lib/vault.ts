import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hash,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';

/** The shortest master secret that is accepted. */
export const MIN_MASTER_SECRET_BYTES = 32;

/** Bytes that name a master secret, at the start of every keyed hash and after the version of every sealed text. */
const SECRET_ID_BYTES = 3;

/** Hexadecimal digits of a secret's id. */
export const SECRET_ID_DIGITS = 2 * SECRET_ID_BYTES;

/** The keyed hashes of one master secret. Each begins with the id of the secret, so that a stored hash names it. */
export interface KeyedHashes {
  /** Names the master secret and reveals nothing of it: 6 hex digits, the first ones of every hash. */
  readonly secretId: string;
  /** The hash that a license key is stored and found by: 64 hex digits. */
  hashLookup(lookup: string): string;
  /** The hash of one named value of a machine's fingerprint: 64 hex digits. */
  hashComponent(name: string, value: string): string;
  /** The hash of any other text, apart for each label (an ASCII word such as `email`): 64 hex digits. */
  hashText(label: string, text: string): string;
}

/**
 * Protects what must not be readable in the database: keyed hashes for look-ups, and sealed copies of what has to be
 * shown again. Every purpose has a key of its own, so that a hash made for one is unrelated to the hashes of another.
 */
export interface Vault extends KeyedHashes {
  /** The hashes under the previous master secrets, for rows that were not rewritten yet. Empty except during a rotation. */
  readonly previous: readonly KeyedHashes[];
  /**
   * Encrypts and authenticates a text under the current master secret.
   * @param aad what the text belongs to (such as `license:<id>`); opening under another one fails
   */
  seal(plaintext: string, aad: string): Buffer;
  /**
   * Opens what `seal` returned, under the current or a previous master secret.
   * @throws UnknownSecretError when it was sealed under another master secret
   * @throws {Error} when the bytes were changed or belong to another `aad`
   */
  open(sealed: Uint8Array, aad: string): string;
  /** Whether a text is sealed under the current master secret, by the id in front of it. */
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
 * Opens a vault under a master secret.
 * @param secret at least `MIN_MASTER_SECRET_BYTES` bytes (of a text its UTF-8); whoever has it can read every key
 * @param previousSecrets secrets that rows may still be stored under; they are read, and nothing is written with them
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
  const withId =
    (hmac: (text: string) => string) =>
    (text: string): string =>
      secretId + hmac(text).slice(SECRET_ID_DIGITS);
  const lookupHmac = withId(createHexHmac(deriveKey(masterSecret, 'lookup')));
  const componentHmac = withId(createHexHmac(deriveKey(masterSecret, 'component')));
  const textHmac = withId(createHexHmac(deriveKey(masterSecret, 'text')));
  return {
    hashes: {
      secretId,
      hashLookup: lookupHmac,
      // A length in front keeps ("a", "bc") and ("ab", "c") apart, whatever characters the two hold.
      hashComponent: (name, value) => componentHmac(`${name.length}:${name}${value}`),
      hashText: (label, text) => textHmac(`${label.length}:${label}${text}`),
    },
    // A key object: from bytes the cipher would make one each time, which took three quarters of the 80 µs of a sealing.
    sealingKey: createSecretKey(deriveKey(masterSecret, 'seal')),
  };
}

/** One key per purpose out of the master secret: HKDF with SHA-256 (RFC 5869). */
function deriveKey(masterSecret: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', masterSecret, '', `latchkey/v1/${purpose}`, 32));
}

const SHA256_BLOCK_BYTES = 64;
const SHA256_DIGEST_BYTES = 32;
const MAX_FAST_MESSAGE_BYTES = 1024;

/**
 * HMAC-SHA256 by its definition (RFC 2104): H(key ^ opad, H(key ^ ipad, text)), the two padded key blocks laid out once.
 *
 * Every request that names a license key computes one. `createHmac` builds a stream and a key object for each call and
 * took 7.7 µs where two calls of the one-shot `hash` take 3; handing the inner digest over as a latin1 string instead
 * of a Buffer saves another 1.5 µs, and a hex string is cheaper to make than a Buffer and is what PostgreSQL reads.
 */
export function createHexHmac(key: Uint8Array): (text: string) => string {
  if (key.byteLength > SHA256_BLOCK_BYTES) throw new RangeError('a key is at most one block long');
  const inner = Buffer.alloc(SHA256_BLOCK_BYTES + MAX_FAST_MESSAGE_BYTES);
  const outer = Buffer.alloc(SHA256_BLOCK_BYTES + SHA256_DIGEST_BYTES);
  for (let index = 0; index < SHA256_BLOCK_BYTES; index += 1) {
    inner[index] = (key[index] ?? 0) ^ 0x36;
    outer[index] = (key[index] ?? 0) ^ 0x5c;
  }
  return (text) => {
    outer.write(hash('sha256', fillInner(inner, text), 'binary'), SHA256_BLOCK_BYTES, 'latin1');
    return hash('sha256', outer, 'hex');
  };
}

/** The inner block followed by the text, in the given buffer when it fits (one UTF-16 unit is at most 3 bytes). */
function fillInner(inner: Buffer, text: string): Buffer {
  if (text.length * 3 > MAX_FAST_MESSAGE_BYTES) {
    return Buffer.concat([inner.subarray(0, SHA256_BLOCK_BYTES), Buffer.from(text, 'utf8')]);
  }
  return inner.subarray(0, SHA256_BLOCK_BYTES + inner.write(text, SHA256_BLOCK_BYTES, 'utf8'));
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
