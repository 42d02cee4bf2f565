import { createHash, createPublicKey, verify } from 'node:crypto';

import type { Cryptography } from '../tokens/cryptography.ts';

/** OpenSSL of Node.js, which verifies at once, and in Node.js 20 and 22 without the warning of Web Cryptography. */
export const nodeCryptography: Cryptography = {
  sha256: (data) => createHash('sha256').update(data).digest(),
  verify(publicKey, data, signature) {
    const x = Buffer.from(publicKey).toString('base64url');
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return verify(null, data, key, signature);
  },
};
