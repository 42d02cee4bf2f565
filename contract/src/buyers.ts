import { type Static, Type } from 'typebox';

import { LANGUAGES } from './constants.ts';
import { MAX_AIRGAP_REQUEST_LENGTH } from './licenses.ts';
import { dateTime, email, nullable, nullableString, oneOf, ref, text, uuid } from './schema.ts';

const count = (description: string, example: number) =>
  Type.Integer({ description, examples: [example] });

export const BuyerCodeRequest = Type.Object(
  {
    email: email({
      description: 'The address with which the licenses were bought.',
      examples: ['ada@example.com'],
    }),
    language: Type.Optional(
      oneOf(LANGUAGES, { description: 'The language of the e-mail. Default: `en`.' }),
    ),
  },
  { $id: 'BuyerCodeRequest' },
);
export type BuyerCodeRequest = Static<typeof BuyerCodeRequest>;

const requestToken = text({
  maxLength: 100,
  description: 'Keep it where the code was requested: the code works only together with it.',
  examples: ['Zl9Yq2m0Tn7S1vQkE4xW8cJb6aHd3uGf5iPoRrLtNyM'],
});

export const BuyerCodeRequested = Type.Object(
  { request_token: requestToken, expires_at: dateTime({ examples: ['2026-11-20T10:15:00.000Z'] }) },
  { $id: 'BuyerCodeRequested' },
);
export type BuyerCodeRequested = Static<typeof BuyerCodeRequested>;

export const BuyerSignIn = Type.Object(
  {
    request_token: requestToken,
    code: text({
      maxLength: 100,
      description: 'The six characters of the e-mail; case, spaces and hyphens are ignored.',
      examples: ['K7M 2QX'],
    }),
  },
  { $id: 'BuyerSignIn' },
);
export type BuyerSignIn = Static<typeof BuyerSignIn>;

const session = text({
  maxLength: 2_000,
  description: 'The `session` of `POST /api/v1/buyers/sessions`, valid for 30 minutes.',
});

export const BuyerSignedIn = Type.Object(
  { session, expires_at: dateTime({ examples: ['2026-11-20T10:30:00.000Z'] }) },
  { $id: 'BuyerSignedIn' },
);
export type BuyerSignedIn = Static<typeof BuyerSignedIn>;

/** The headers of the operations of a signed-in buyer. */
export const BuyerHeaders = Type.Object({ 'X-Buyer-Session': Type.Optional(session) });

export const BuyerLicense = Type.Object(
  {
    id: uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] }),
    product_id: Type.String({ examples: ['personal'] }),
    product_name: Type.String({ examples: ['Personal'] }),
    key_hint: Type.String({ description: 'The end of the key.', examples: ['5WVR0'] }),
    status: Type.String({ examples: ['active'] }),
    expires_at: nullable(dateTime({ examples: ['2027-11-20T10:00:00.000Z'] })),
    updates_until: nullable(
      dateTime({
        description: 'The end of the time in which it gets new versions; null: it gets all.',
        examples: ['2027-11-20T10:00:00.000Z'],
      }),
    ),
    max_activations: count('How many machines may be active at once.', 3),
    active_activations: count('How many machines are active now.', 2),
    airgap_days: nullable(
      Type.Unsafe<number>({
        type: 'integer',
        description: 'How long a machine without a connection can run; null: not offered.',
        examples: [90],
      }),
    ),
    renew_url: Type.Optional(
      Type.String({
        description: 'Where its owner buys more time or updates for it; absent: not offered.',
        examples: ['https://shop.example.com/renew?license=0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'],
      }),
    ),
    upgrade_url: Type.Optional(
      Type.String({
        description: 'Where its owner exchanges it for a larger product; absent: not offered.',
        examples: ['https://shop.example.com/upgrade?license=0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'],
      }),
    ),
  },
  { $id: 'BuyerLicense' },
);
export type BuyerLicense = Static<typeof BuyerLicense>;

export const BuyerLicenses = Type.Object(
  {
    items: Type.Array(ref(BuyerLicense), { description: 'Newest first; at most 100.' }),
    has_more: Type.Boolean({ description: 'Whether the address has older licenses.' }),
  },
  { $id: 'BuyerLicenses' },
);
export type BuyerLicenses = Static<typeof BuyerLicenses>;

export const BuyerMachine = Type.Object(
  {
    activation_id: uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] }),
    machine_id: Type.String({ examples: ['4c4c4544-0044'] }),
    os_version: nullableString({ examples: ['15.1'] }),
    app_version: nullableString({ examples: ['2.4.0'] }),
    last_seen_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
    activated_at: dateTime({ examples: ['2026-01-07T08:30:00.000Z'] }),
    airgapped_until: nullable(
      dateTime({
        description: 'Until then it runs without a connection, and its place cannot be freed.',
        examples: ['2027-02-18T10:00:00.000Z'],
      }),
    ),
  },
  { $id: 'BuyerMachine' },
);
export type BuyerMachine = Static<typeof BuyerMachine>;

export const BuyerMachines = Type.Object(
  {
    items: Type.Array(ref(BuyerMachine), {
      description: 'The active machines of a page, the one seen last first; at most 50.',
    }),
    page: count('This page, from 1.', 1),
    pages: count('How many pages there are.', 1),
    moves_left: count('On how many more different machines the license can be activated.', 3),
    moves_days: count('The days that count for `moves_left`.', 30),
    portal_url: nullableString({
      description: 'The page of the payment provider for card and invoices.',
      examples: ['https://customer-portal.paddle.com/cpl_01aaaaaaaaaaaaaaaaaaaaaaaa'],
    }),
  },
  { $id: 'BuyerMachines' },
);
export type BuyerMachines = Static<typeof BuyerMachines>;

export const BuyerKeysSent = Type.Object(
  {
    queued: Type.Boolean({
      description: 'False: no license works and has an address, or the service sends no mail.',
    }),
  },
  { $id: 'BuyerKeysSent' },
);
export type BuyerKeysSent = Static<typeof BuyerKeysSent>;

export const BuyerAirgapActivate = Type.Object(
  {
    request: text({
      maxLength: MAX_AIRGAP_REQUEST_LENGTH,
      description: 'As in `POST /api/v1/licenses/activate-airgapped`.',
      examples: ['LKR1.eyJwcm9kdWN0IjoicGVyc29uYWwi…In0.T2oAYEwdoA'],
    }),
  },
  { $id: 'BuyerAirgapActivate' },
);
export type BuyerAirgapActivate = Static<typeof BuyerAirgapActivate>;

export const BuyerLicensePath = Type.Object({ license_id: uuid() });
export const BuyerMachinePath = Type.Object({ license_id: uuid(), activation_id: uuid() });

export const BuyerMachinesQuery = Type.Object({
  page: Type.Optional(
    text({ description: 'The page, from 1. Default: 1.', maxLength: 6, examples: ['2'] }),
  ),
});

export const buyerSchemas = [
  BuyerCodeRequest,
  BuyerCodeRequested,
  BuyerSignIn,
  BuyerSignedIn,
  BuyerLicense,
  BuyerLicenses,
  BuyerMachine,
  BuyerMachines,
  BuyerKeysSent,
  BuyerAirgapActivate,
];
