/** The checks of RFC 8032 that some implementations of Ed25519 leave out. */

/** The order of the base point (RFC 8032, section 5.1). */
const ORDER = 0x1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3edn;

/** The prime of the field. */
const PRIME = 2n ** 255n - 19n;

/** The y-coordinate of a point of order eight; the other one is its negative. */
const ORDER_EIGHT = 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n;

/** The y-coordinates of the points whose order divides eight: a signature of such a key fits every message. */
const SMALL_ORDERS = new Set([0n, 1n, PRIME - 1n, ORDER_EIGHT, PRIME - ORDER_EIGHT]);

/** Whether a signature has 64 bytes and its second half is below the order, so that it cannot be rewritten. */
export function isCanonicalSignature(signature: Uint8Array): boolean {
  return signature.length === 64 && readNumber(signature.subarray(32)) < ORDER;
}

/** Whether a public key has 32 bytes, is encoded canonically, and is no point of small order. */
export function isSafePublicKey(publicKey: Uint8Array): boolean {
  if (publicKey.length !== 32) return false;
  const y = BigInt.asUintN(255, readNumber(publicKey));
  return y < PRIME && !SMALL_ORDERS.has(y);
}

/** Reads a number in little-endian order. */
function readNumber(bytes: Uint8Array): bigint {
  return bytes.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
}
