/** The cryptography of a client. Both functions may answer at once or later. */
export interface Cryptography {
  /** SHA-256 (FIPS 180-4). */
  sha256(data: Uint8Array<ArrayBuffer>): Uint8Array | Promise<Uint8Array>;
  /** Verifies an Ed25519 signature (RFC 8032). @param publicKey 32 bytes @param signature 64 bytes */
  verify(
    publicKey: Uint8Array<ArrayBuffer>,
    data: Uint8Array<ArrayBuffer>,
    signature: Uint8Array<ArrayBuffer>,
  ): boolean | Promise<boolean>;
}

/** Web Cryptography: Ed25519 needs Chrome 137, Safari 17, Firefox 129 or Node.js 20, and a page from https or a loopback address. */
export const webCryptography: Cryptography = {
  async sha256(data) {
    return new Uint8Array(await crypto.subtle.digest('SHA-256', data));
  },
  async verify(publicKey, data, signature) {
    const key = await crypto.subtle.importKey('raw', publicKey, 'Ed25519', false, ['verify']);
    return crypto.subtle.verify('Ed25519', key, signature, data);
  },
};
