import { hash } from 'node:crypto';

/** The order of the base point (RFC 8032, 5.1). */
const L = 2n ** 252n + 27742317777372353535851937790883648493n;

/** The base point, encoded: S = 1 is a valid signature with it for every key whose multiple vanishes. */
const BASE_POINT = Buffer.from(`58${'66'.repeat(31)}`, 'hex');

const zeros = '00'.repeat(30);
const ones = 'ff'.repeat(30);

/** The points whose order divides 8. Without a private key, anyone can sign for such a "public key". */
export const SMALL_ORDER_POINTS: Readonly<Record<string, string>> = {
  'order 1': `01${zeros}00`,
  'order 2': `ec${ones}7f`,
  'order 4': `00${zeros}00`,
  'order 4, the other one': `00${zeros}80`,
  'order 8': '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'order 8, the second one': '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  'order 8, the third one': 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'order 8, the fourth one': 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
};

/** Other encodings of points of small order, which RFC 8032 does not allow. */
export const NON_CANONICAL_POINTS: Readonly<Record<string, string>> = {
  'order 1, with a sign': `01${zeros}80`,
  'order 2, with a sign': `ec${ones}ff`,
  'order 4, above the prime': `ed${ones}7f`,
  'order 4, above the prime, with a sign': `ed${ones}ff`,
  'order 1, above the prime': `ee${ones}7f`,
  'order 1, above the prime, with a sign': `ee${ones}ff`,
};

/** A signature that holds for a public key of small order if {@link isForgeable}: R is the base point, S is 1. */
export const FORGED_SIGNATURE: Buffer = Buffer.concat([
  BASE_POINT,
  Buffer.from(`01${zeros}00`, 'hex'),
]);

/** Whether the hash of a signed text is a multiple of 8, so that a public key of small order vanishes. */
export function isForgeable(publicKey: Buffer, text: string): boolean {
  const digest = hash(
    'sha512',
    Buffer.concat([BASE_POINT, publicKey, Buffer.from(text)]),
    'buffer',
  );
  return (readLittleEndian(digest) % L) % 8n === 0n;
}

/** Adds the order of the base point to S: without the check S < L, the changed signature is valid, too. */
export function addOrder(signature: Buffer): Buffer {
  const s = readLittleEndian(signature.subarray(32)) + L;
  return Buffer.concat([signature.subarray(0, 32), writeLittleEndian(s)]);
}

function readLittleEndian(bytes: Buffer): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}

function writeLittleEndian(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
}
