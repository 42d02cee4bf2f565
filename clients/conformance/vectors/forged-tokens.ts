import { createHmac } from 'node:crypto';

import { addOrder, FORGED_SIGNATURE, isForgeable } from './edwards.ts';
import { NON_CANONICAL_POINTS, SMALL_ORDER_POINTS } from './edwards.ts';
import { claimsWith, encodeSigningInput, FOREIGN_KEY, headerOf } from './sign-token.ts';
import { SERVICE_KEY, signToken } from './sign-token.ts';
import { describePublicKey, type TestPublicJwk } from './test-keys.ts';
import { vector, type TokenVector } from './token-vector.ts';

/** Returns tokens that the service did not sign: by algorithm, by key and by signature. */
export function listForgedTokens(): TokenVector[] {
  return [
    ...listOtherAlgorithms(),
    ...listUnknownKeys(),
    ...listWrongSignatures(),
    ...listSmallOrderKeys(),
  ];
}

function forge(name: string, header: object): TokenVector {
  return vector(name, 'algorithm', signToken({ header }));
}

function listOtherAlgorithms(): TokenVector[] {
  const { kid, typ } = headerOf(SERVICE_KEY);
  return [
    forge('alg none', { alg: 'none', kid, typ }),
    vector('alg HS256 with the public key as secret', 'algorithm', signWithPublicKey()),
    forge('no alg', { kid, typ }),
    forge('alg in small letters', { alg: 'eddsa', kid, typ }),
    forge('alg Ed25519', { alg: 'Ed25519', kid, typ }),
    forge('alg ES256', { alg: 'ES256', kid, typ }),
    forge('alg as a list', { alg: ['EdDSA'], kid, typ }),
    forge('alg none of an unknown key', { alg: 'none', kid: 'unknown', typ }),
  ];
}

function signWithPublicKey(): string {
  const { kid, typ } = headerOf(SERVICE_KEY);
  const input = encodeSigningInput({ header: { alg: 'HS256', kid, typ } });
  const secret = Buffer.from(SERVICE_KEY.publicJwk.x, 'base64url');
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

function listUnknownKeys(): TokenVector[] {
  const { alg, typ } = headerOf(SERVICE_KEY);
  const { publicJwk } = SERVICE_KEY;
  const foreign = signToken({ key: FOREIGN_KEY });
  const ownKey = signToken({
    key: FOREIGN_KEY,
    header: { ...headerOf(FOREIGN_KEY), jwk: FOREIGN_KEY.publicJwk },
  });
  const named = (kid: string) => signToken({ header: { alg, kid, typ } });
  const changed = (changes: Partial<TestPublicJwk>) => ({
    public_keys: [{ ...publicJwk, ...changes }],
  });
  const shortKey = Buffer.from(publicJwk.x, 'base64url').subarray(1).toString('base64url');
  return [
    vector('an unknown key', 'unknown_key', foreign),
    vector('a key that the token brings with it', 'unknown_key', ownKey),
    vector('a client that knows no key', 'unknown_key', signToken(), { public_keys: [] }),
    vector('an empty kid', 'unknown_key', named('')),
    vector('the kid __proto__', 'unknown_key', named('__proto__')),
    vector('the kid constructor', 'unknown_key', named('constructor')),
    vector('a kid with a blank', 'unknown_key', named(` ${publicJwk.kid}`)),
    vector('a known key of another type', 'unknown_key', signToken(), changed({ kty: 'EC' })),
    vector('a known key of another curve', 'unknown_key', signToken(), changed({ crv: 'X25519' })),
    vector('a known key of 31 bytes', 'unknown_key', signToken(), changed({ x: shortKey })),
    vector(
      'a known key with padding',
      'unknown_key',
      signToken(),
      changed({ x: `${publicJwk.x}=` }),
    ),
  ];
}

function listWrongSignatures(): TokenVector[] {
  const token = signToken();
  const input = encodeSigningInput({});
  const signature = Buffer.from(token.slice(input.length + 1), 'base64url');
  const signed = (bytes: Buffer) => `${input}.${bytes.toString('base64url')}`;
  const flipped = Buffer.from(signature);
  flipped.writeUInt8(flipped.readUInt8(5) ^ 1, 5);
  const longer = encodeSigningInput({ payload: claimsWith({ exp: 4_000_000_000 }) });
  const both = { public_keys: [FOREIGN_KEY.publicJwk, SERVICE_KEY.publicJwk] };
  const named = signToken({ key: FOREIGN_KEY, header: headerOf(SERVICE_KEY) });
  const wrongIssuer = claimsWith({ iss: 'https://other.example.com' });
  return [
    vector('another key under a known kid', 'signature', named),
    vector('another known key than the kid names', 'signature', named, both),
    vector('a changed bit of the signature', 'signature', signed(flipped)),
    vector('a later end under the same signature', 'signature', `${longer}.${token.split('.')[2]}`),
    vector('a signature of 63 bytes', 'signature', signed(signature.subarray(0, 63))),
    vector(
      'a signature of 65 bytes',
      'signature',
      signed(Buffer.concat([signature, signature.subarray(0, 1)])),
    ),
    vector('a signature of one byte', 'signature', signed(signature.subarray(0, 1))),
    vector('a signature of zeros', 'signature', signed(Buffer.alloc(64))),
    vector('S not below the order of the base point', 'signature', signed(addOrder(signature))),
    vector(
      'a wrong signature of another issuer',
      'signature',
      signToken({ key: FOREIGN_KEY, header: headerOf(SERVICE_KEY), payload: wrongIssuer }),
    ),
  ];
}

function listSmallOrderKeys(): TokenVector[] {
  const points = { ...SMALL_ORDER_POINTS, ...NON_CANONICAL_POINTS };
  return Object.entries(points).map(([name, hex]) => {
    const point = Buffer.from(hex, 'hex');
    const publicKey = describePublicKey(point.toString('base64url'));
    return vector(`a public key of ${name}`, 'signature', forgeFor(point, publicKey.kid), {
      public_keys: [publicKey],
    });
  });
}

/** Varies a claim until the forged signature fits. */
function forgeFor(point: Buffer, kid: string): string {
  const header = { ...headerOf(SERVICE_KEY), kid };
  for (let attempt = 0; ; attempt++) {
    const input = encodeSigningInput({ header, payload: claimsWith({ attempt }) });
    if (isForgeable(point, input)) return `${input}.${FORGED_SIGNATURE.toString('base64url')}`;
  }
}
