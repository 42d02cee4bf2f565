import { type Static, Type } from 'typebox';

import { CurrentOperator, Done } from './admin-session.ts';
import { operation } from './operation.ts';
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

const Passkey = Type.Object(
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

const Passkeys = Type.Object(
  { items: Type.Array(ref(Passkey), { description: 'The oldest first.' }) },
  { $id: 'Passkeys' },
);
export type Passkeys = Static<typeof Passkeys>;

const PasskeyCreation = Type.Object(
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

const PasskeyRegistration = Type.Object(
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

const PasskeyRequest = Type.Object(
  { challenge, rp_id: rpId },
  { $id: 'PasskeyRequest', description: 'What a browser needs to use a passkey.' },
);
export type PasskeyRequest = Static<typeof PasskeyRequest>;

const PasskeyAssertion = Type.Object(
  {
    credential_id: credentialId,
    client_data: clientData,
    authenticator_data: authenticatorData,
    signature: bytes('`response.signature` of the browser.'),
  },
  { $id: 'PasskeyAssertion', additionalProperties: false },
);
export type PasskeyAssertion = Static<typeof PasskeyAssertion>;

export const beginPasskeySignIn = operation({
  id: 'beginPasskeySignIn',
  method: 'POST',
  path: 'session/passkey/begin',
  summary: 'Create a challenge to sign in with a passkey',
  permission: 'public',
  response: ref(PasskeyRequest, 'The challenge for the browser.'),
  errors: ['not_possible', 'cross_origin'],
});

export const signInWithPasskey = operation({
  id: 'signInWithPasskey',
  method: 'POST',
  path: 'session/passkey',
  summary: 'Sign in with a passkey',
  description: 'The authenticator must have verified its user; the passkey then is both factors.',
  permission: 'public',
  body: ref(PasskeyAssertion),
  response: ref(CurrentOperator, 'The operator is signed in.'),
  errors: ['sign_in_failed', 'not_possible', 'rate_limited', 'cross_origin', 'https_required'],
});

export const proveFreshnessWithPasskey = operation({
  id: 'proveFreshnessWithPasskey',
  method: 'POST',
  path: 'session/passkey/prove',
  summary: 'Prove freshness with a passkey',
  permission: 'session:prove',
  body: ref(PasskeyAssertion),
  response: ref(CurrentOperator, 'The session is fresh.'),
  errors: ['sign_in_failed', 'not_possible', 'rate_limited', 'https_required'],
});

export const listPasskeys = operation({
  id: 'listPasskeys',
  method: 'GET',
  path: 'session/passkeys',
  summary: 'List your passkeys',
  permission: 'account:read',
  response: ref(Passkeys, 'All your passkeys.'),
});

export const beginPasskey = operation({
  id: 'beginPasskey',
  method: 'POST',
  path: 'session/passkeys/begin',
  summary: 'Create the options of a new passkey',
  permission: 'account:change',
  response: ref(PasskeyCreation, 'The options for the browser.'),
  errors: ['not_possible'],
});

export const registerPasskey = operation({
  id: 'registerPasskey',
  method: 'POST',
  path: 'session/passkeys',
  summary: 'Register a passkey',
  permission: 'account:change',
  body: ref(PasskeyRegistration),
  response: ref(Passkey, 'The passkey signs you in.'),
  errors: ['not_possible'],
});

export const removePasskey = operation({
  id: 'removePasskey',
  method: 'POST',
  path: 'session/passkeys/:id/remove',
  summary: 'Remove a passkey',
  permission: 'account:change',
  params: Type.Object({ id: uuid() }),
  response: ref(Done, 'The passkey was removed.'),
  errors: ['not_found'],
});
