import { type Static, Type } from 'typebox';

import { reason } from './admin-list.ts';
import { collectionResource, listResource } from './list-resource.ts';
import { operation } from './operation.ts';
import { dateTime, integer, nullable, nullableString, oneOf, ref, text, uuid } from './schema.ts';

/**
 * The scopes of API keys:
 * - `outreach:send`: to send outreach e-mail;
 * - `metrics:read`: to read `/metrics`;
 * - `subscribers:write`: to subscribe addresses without the rate limit, for a server that forwards its form;
 * - `admin:read`, `admin:support`: the operator interface as `viewer` or `support`;
 * - `admin`: everything, including future scopes.
 */
export const API_KEY_SCOPES = [
  'outreach:send',
  'metrics:read',
  'subscribers:write',
  'admin:read',
  'admin:support',
  'admin',
] as const;

export type ApiKeyScope = (typeof API_KEY_SCOPES)[number];

/** `rolled`: replaced by another key, and valid until the end of the overlap. */
const API_KEY_STATES = ['active', 'rolled', 'expired', 'revoked'] as const;

export type ApiKeyState = (typeof API_KEY_STATES)[number];

const MAX_API_KEY_NAME_LENGTH = 64;

/** 90 days. */
const MAX_OVERLAP_SECONDS = 7_776_000;

export const ApiKey = Type.Object(
  {
    id: uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] }),
    name: Type.String({ examples: ['sheet'] }),
    key_hint: Type.String({ description: 'The last characters of the key.', examples: ['7Xk2'] }),
    scopes: Type.Array(Type.String(), { examples: [['outreach:send']] }),
    state: oneOf(API_KEY_STATES, {
      description: '`rolled`: replaced by another key, and valid until `expires_at`.',
      examples: ['active'],
    }),
    created_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
    expires_at: nullable(
      dateTime({ description: 'Null: never.', examples: ['2027-11-20T10:00:00.000Z'] }),
    ),
    last_used_at: nullable(
      dateTime({ description: 'To the minute.', examples: ['2026-11-21T10:00:00.000Z'] }),
    ),
    revoked_at: nullable(dateTime({ examples: ['2026-11-22T10:00:00.000Z'] })),
    replaced_by: nullable(
      uuid({
        description: 'The id of the successor of a rolled key.',
        examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3e'],
      }),
    ),
  },
  { $id: 'ApiKey', description: 'An API key, without the key itself.' },
);
export type ApiKey = Static<typeof ApiKey>;

export const apiKeys = listResource({
  id: 'ApiKeys',
  name: 'api_key',
  title: 'API keys',
  path: 'api-keys',
  item: ApiKey,
  sorts: ['-created_at', 'name', 'expires_at', 'last_used_at'],
  search: 'A part of the name.',
  filters: {
    state: Type.Optional(oneOf(API_KEY_STATES)),
    scope: Type.Optional(oneOf(API_KEY_SCOPES)),
  },
  permissions: { read: 'api-keys:read', export: 'api-keys:export' },
  columns: [
    'id',
    'name',
    'key_hint',
    'scopes',
    'state',
    'created_at',
    'expires_at',
    'last_used_at',
    'revoked_at',
    'replaced_by',
  ],
});

const ApiKeyPath = Type.Object({ id: uuid() });

export const IssuedApiKey = Type.Object(
  {
    api_key: Type.String({
      description: 'The key, which programs send in `X-API-Key`. It cannot be shown again.',
      examples: ['lk_2mB9fVxT7QeKpR4wYhZ8sN6cJdLgA3uG1oXi'],
    }),
    key: ref(ApiKey),
  },
  { $id: 'IssuedApiKey' },
);
export type IssuedApiKey = Static<typeof IssuedApiKey>;

const ApiKeyCreate = Type.Object(
  {
    name: text({
      description: 'The purpose of the key; unique among valid keys.',
      minLength: 1,
      maxLength: MAX_API_KEY_NAME_LENGTH,
      examples: ['sheet'],
    }),
    scopes: Type.Array(oneOf(API_KEY_SCOPES), { minItems: 1, examples: [['outreach:send']] }),
    expires_at: Type.Optional(
      nullable(
        dateTime({
          description: 'Null or absent: never.',
          examples: ['2127-11-20T10:00:00.000Z'],
        }),
      ),
    ),
    reason: Type.Optional(reason),
  },
  { $id: 'ApiKeyCreate', additionalProperties: false },
);

export const createApiKey = operation({
  id: 'createApiKey',
  method: 'POST',
  path: 'api-keys',
  summary: 'Create an API key',
  permission: 'api-keys:issue',
  body: ref(ApiKeyCreate),
  response: ref(IssuedApiKey, 'The key, which cannot be shown again.'),
  errors: ['not_possible'],
});

const ApiKeyRoll = Type.Object(
  {
    overlap_seconds: integer({
      description: 'How long the old key stays valid; 0: it ends at once.',
      minimum: 0,
      maximum: MAX_OVERLAP_SECONDS,
      examples: [86_400],
    }),
    reason: Type.Optional(reason),
  },
  { $id: 'ApiKeyRoll', additionalProperties: false },
);

export const rollApiKey = operation({
  id: 'rollApiKey',
  method: 'POST',
  path: 'api-keys/:id/roll',
  summary: 'Replace an API key',
  description:
    'The new key has the same name, scopes and term; the old one ends after the overlap.',
  permission: 'api-keys:issue',
  params: ApiKeyPath,
  body: ref(ApiKeyRoll),
  response: ref(IssuedApiKey, 'The new key, which cannot be shown again.'),
  errors: ['not_found', 'not_possible'],
});

const KeyRevocation = Type.Object(
  { reason },
  { $id: 'KeyRevocation', additionalProperties: false },
);

export const revokeApiKey = operation({
  id: 'revokeApiKey',
  method: 'POST',
  path: 'api-keys/:id/revoke',
  summary: 'Revoke an API key',
  permission: 'api-keys:revoke',
  params: ApiKeyPath,
  body: ref(KeyRevocation),
  response: ref(ApiKey, 'The revoked key.'),
  errors: ['not_found'],
});

/**
 * - `signing`: signs entitlements now;
 * - `published`: will sign, after every client could fetch it;
 * - `retired`: signed before, and stays published until its last token expires;
 * - `revoked`: removed from the key set;
 * - `rejected`: its row was not written with the master secret, and is not used.
 */
const SIGNING_KEY_STATES = ['signing', 'published', 'retired', 'revoked', 'rejected'] as const;

export type SigningKeyState = (typeof SIGNING_KEY_STATES)[number];

const SigningKeyView = Type.Object(
  {
    kid: Type.String({ examples: ['kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'] }),
    state: oneOf(SIGNING_KEY_STATES, {
      description:
        '`published`: signs later; `retired`: signed before; `revoked`: removed from the key set; `rejected`: not written with the master secret, and not used.',
      examples: ['signing'],
    }),
    active_from: dateTime({ examples: ['2026-11-20T10:05:00.000Z'] }),
    retired_at: nullableString({
      description: 'When another key replaces it; null: no other one is announced.',
      examples: ['2027-11-20T10:05:00.000Z'],
    }),
    created_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
  },
  { $id: 'SigningKey', description: 'A key that signs entitlements, without the private key.' },
);
export type SigningKeyView = Static<typeof SigningKeyView>;

export const signingKeys = collectionResource({
  id: 'SigningKeys',
  name: 'signing_key',
  title: 'signing keys',
  path: 'signing-keys',
  item: SigningKeyView,
  permissions: { read: 'signing-keys:read', export: 'signing-keys:export' },
});

const SigningKeyRotation = Type.Object(
  {
    immediately: Type.Optional(
      Type.Unsafe<boolean>({
        type: 'boolean',
        description:
          'Sign with the new key at once, because the old one leaked. Default: after 5 minutes, when every client can have fetched it.',
      }),
    ),
    reason,
  },
  { $id: 'SigningKeyRotation', additionalProperties: false },
);

export const rotateSigningKey = operation({
  id: 'rotateSigningKey',
  method: 'POST',
  path: 'signing-keys/rotate',
  summary: 'Create a new key to sign entitlements with',
  description: 'Older keys stay published until their last token expires.',
  permission: 'signing-keys:rotate',
  body: ref(SigningKeyRotation),
  response: signingKeys.list.response,
});

export const revokeSigningKey = operation({
  id: 'revokeSigningKey',
  method: 'POST',
  path: 'signing-keys/:kid/revoke',
  summary: 'Remove a retired key that leaked from the key set',
  description: 'Every process removes it within a minute. Clients then refuse its tokens.',
  permission: 'signing-keys:revoke',
  params: Type.Object({ kid: text() }),
  body: ref(KeyRevocation),
  response: signingKeys.list.response,
  errors: ['not_found', 'not_possible'],
});
