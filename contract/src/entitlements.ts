import { type Static, Type } from 'typebox';
import { ref } from './schema.ts';

/** An Ed25519 public key (RFC 7517, RFC 8037). */
export const PublicJwk = Type.Object(
  {
    kty: Type.String({ examples: ['OKP'] }),
    crv: Type.String({ examples: ['Ed25519'] }),
    x: Type.String({
      description: 'The public key, base64url.',
      examples: ['11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'],
    }),
    kid: Type.String({
      description: 'The thumbprint of the key (RFC 7638).',
      examples: ['kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'],
    }),
    alg: Type.String({ examples: ['EdDSA'] }),
    use: Type.String({ examples: ['sig'] }),
  },
  { $id: 'PublicJwk' },
);
export type PublicJwk = Static<typeof PublicJwk>;

/** The public keys that verify entitlements. */
export const JwkSet = Type.Object({ keys: Type.Array(ref(PublicJwk)) }, { $id: 'JwkSet' });
export type JwkSet = Static<typeof JwkSet>;
