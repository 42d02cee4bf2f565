import { type Static, Type } from 'typebox';

import { dateTime, nullable, ref, text, uuid } from './schema.ts';

const MAX_PASSKEY_NAME_LENGTH = 64;

/** Of base64url, in characters. Credential ids have up to 1,023 bytes (WebAuthn §4). */
const MAX_ID_LENGTH = 1_400;
const MAX_DATA_LENGTH = 4_000;

const credentialId = text({
  description: 'The id of the credential, in base64url like all bytes.',
  minLength: 1,
  maxLength: MAX_ID_LENGTH,
  examples: ['bm90IGEgcmVhbCBjcmVkZW50aWFsIGlk'],
});

const clientData = text({
  description: '`response.clientDataJSON` of the browser.',
  maxLength: MAX_DATA_LENGTH,
  examples: ['eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0'],
});

const authenticatorData = text({
  description: '`response.authenticatorData` of the browser.',
  maxLength: MAX_DATA_LENGTH,
  examples: ['SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ'],
});

const bytes = (description: string) =>
  text({ description, maxLength: MAX_DATA_LENGTH, examples: ['MEUCIQDq'] });

const challenge = Type.String({
  description: 'Valid once, for 5 minutes.',
  examples: ['AZqxw2kBc1vN8Jq0m4T5sYpZ7dKfXh2LgW9uRr3eVtUAoSiP6Q'],
});

const rpId = Type.String({
  description: 'The host name that passkeys belong to.',
  examples: ['license.example.com'],
});

export const Passkey = Type.Object(
  {
    id: uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] }),
    credential_id: Type.String({ examples: ['bm90IGEgcmVhbCBjcmVkZW50aWFsIGlk'] }),
    name: Type.String({ examples: ['Laptop'] }),
    is_synced: Type.Boolean({
      description: 'Whether a password manager copies it to other devices.',
    }),
    created_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
    last_used_at: nullable(dateTime({ examples: ['2026-11-21T10:00:00.000Z'] })),
  },
  { $id: 'Passkey' },
);
export type Passkey = Static<typeof Passkey>;

export const Passkeys = Type.Object(
  { items: Type.Array(ref(Passkey), { description: 'The oldest first.' }) },
  { $id: 'Passkeys' },
);
export type Passkeys = Static<typeof Passkeys>;

export const PasskeyPath = Type.Object({ id: uuid() });

export const PasskeyCreation = Type.Object(
  {
    challenge,
    rp_id: rpId,
    user_id: Type.String({ description: 'In base64url.', examples: ['AZCmsnwefTKcQT9fChssPQ'] }),
    user_name: Type.String({ examples: ['anna@example.com'] }),
    user_display_name: Type.String({ examples: ['Anna'] }),
    exclude: Type.Array(Type.String(), {
      description: 'The ids of the credentials that are registered already.',
    }),
  },
  { $id: 'PasskeyCreation', description: 'What a browser needs to create a passkey.' },
);
export type PasskeyCreation = Static<typeof PasskeyCreation>;

export const PasskeyRegistration = Type.Object(
  {
    name: text({
      description: 'The name that the operator sees.',
      minLength: 1,
      maxLength: MAX_PASSKEY_NAME_LENGTH,
      examples: ['Laptop'],
    }),
    credential_id: credentialId,
    client_data: clientData,
    authenticator_data: authenticatorData,
    public_key: bytes('`response.getPublicKey()` of the browser: SPKI in DER.'),
  },
  { $id: 'PasskeyRegistration', additionalProperties: false },
);
export type PasskeyRegistration = Static<typeof PasskeyRegistration>;

export const PasskeyRequest = Type.Object(
  { challenge, rp_id: rpId },
  { $id: 'PasskeyRequest', description: 'What a browser needs to use a passkey.' },
);
export type PasskeyRequest = Static<typeof PasskeyRequest>;

export const PasskeyAssertion = Type.Object(
  {
    credential_id: credentialId,
    client_data: clientData,
    authenticator_data: authenticatorData,
    signature: bytes('`response.signature` of the browser.'),
  },
  { $id: 'PasskeyAssertion', additionalProperties: false },
);
export type PasskeyAssertion = Static<typeof PasskeyAssertion>;
