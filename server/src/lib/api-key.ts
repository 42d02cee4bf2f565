import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * An API key: `lk_`, 30 random symbols (178 bits), and the CRC-32 of all that in six symbols. With the prefix and
 * the checksum, a secret scanner recognizes a key without a request to the service, as with GitHub's tokens:
 * https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/
 */
const PREFIX = 'lk_';
const RANDOM_SYMBOLS = 30;
const CHECK_SYMBOLS = 6;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * Bytes from here on are skipped: 256 is no multiple of 62, and the first symbols would be likelier than the others.
 */
const FIRST_BIASED_BYTE = 256 - (256 % ALPHABET.length);

/** Enough to distinguish keys, and too few to use one. */
const HINT_SYMBOLS = 4;

const FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_SYMBOLS + CHECK_SYMBOLS}}$`);

/**
 * Creates an API key.
 * @param randomBytes a cryptographically strong source, for instance `crypto.randomBytes`
 */
export function generateApiKey(randomBytes: (count: number) => Uint8Array): string {
  let body = PREFIX;
  while (body.length < PREFIX.length + RANDOM_SYMBOLS) {
    const missing = PREFIX.length + RANDOM_SYMBOLS - body.length;
    for (const byte of randomBytes(missing)) {
      if (byte < FIRST_BIASED_BYTE) body += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return body + checkSymbols(body);
}

/** Whether a text has the form and the checksum of an API key. */
export function isApiKey(text: string): boolean {
  if (!FORM.test(text)) return false;
  return text.slice(-CHECK_SYMBOLS) === checkSymbols(text.slice(0, -CHECK_SYMBOLS));
}

/** Hashes an API key for storage, by SHA-256. */
export function hashApiKey(apiKey: string | Uint8Array): Buffer {
  return hash('sha256', apiKey, 'buffer');
}

/** Returns the last symbols of an API key, by which people distinguish keys. */
export function hintOf(apiKey: string): string {
  return apiKey.slice(-HINT_SYMBOLS);
}

function checkSymbols(body: string): string {
  let rest = crc32(body);
  let symbols = '';
  for (let count = 0; count < CHECK_SYMBOLS; count += 1) {
    symbols = ALPHABET.charAt(rest % ALPHABET.length) + symbols;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return symbols;
}
