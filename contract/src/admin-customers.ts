import { type Static, Type } from 'typebox';

import { archiveLocations } from './admin-installs.ts';
import { reason } from './admin-list.ts';
import { dateTime, email, nullable, nullableString, oneOf, text, uuid } from './schema.ts';

const EXAMPLE_ID = '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d';
const EXAMPLE_TIME = '2026-11-20T10:00:00.000Z';

const time = (description?: string) =>
  dateTime({ ...(description === undefined ? {} : { description }), examples: [EXAMPLE_TIME] });

const id = (description: string) => uuid({ description, examples: [EXAMPLE_ID] });

export const CustomerQuery = Type.Object(
  {
    email: email({
      description: 'The address in any spelling.',
      examples: ['ada@example.com'],
    }),
  },
  { additionalProperties: false },
);

const CustomerLicense = Type.Object({
  id: id('The license.'),
  product_id: Type.String({ examples: ['personal'] }),
  key_hint: Type.String({ description: 'The last characters of the key.', examples: ['9K2M'] }),
  status: Type.String({ examples: ['active'] }),
  customer_name: nullableString({ examples: ['Ada Lovelace'] }),
  created_at: time(),
  expires_at: nullable(time('Null: perpetual.')),
  active_machines: Type.Integer({ examples: [1] }),
  max_activations: Type.Integer({ examples: [2] }),
});

const CustomerPayment = Type.Object({
  transaction_id: Type.String({ examples: ['txn_01hv8wptq8987qeep44cyrewp9'] }),
  provider: Type.String({ examples: ['paddle'] }),
  origin: Type.String({
    description: '`purchase`, `renewal`, `change` or `other`.',
    examples: ['purchase'],
  }),
  total: nullable(
    Type.Unsafe<number>({
      type: 'number',
      description: 'In the smallest unit of the currency.',
      examples: [4900],
    }),
  ),
  currency: nullableString({
    description: 'The code of ISO 4217; null: the provider did not report it.',
    examples: ['EUR'],
  }),
  subscription_id: nullableString({ examples: ['sub_01hv8x29kz0t586xy6zn1a62ny'] }),
  occurred_at: time(),
});

const CustomerSubscription = Type.Object({
  subscription_id: Type.String({ examples: ['sub_01hv8x29kz0t586xy6zn1a62ny'] }),
  provider: Type.String({ examples: ['paddle'] }),
  status: Type.String({ examples: ['active'] }),
  occurred_at: time('Of the newest snapshot.'),
});

const CustomerMail = Type.Object({
  kind: oneOf(['keys', 'owner', 'outreach'], { examples: ['keys'] }),
  id: Type.String({
    description: 'Of an e-mail with keys the transaction; of another one the template.',
    examples: ['txn_01hv8wptq8987qeep44cyrewp9'],
  }),
  state: Type.String({ examples: ['sent'] }),
  reason: nullableString({ description: 'Why it waits, or was refused.', examples: ['smtp_550'] }),
  at: time('When it was sent, or created.'),
});

const CustomerAccount = Type.Object({
  provider: Type.String({ examples: ['paddle'] }),
  customer_id: Type.String({ examples: ['ctm_01hv6y1jedq4p1n0yqn5ba3ky4'] }),
  name: nullableString({ examples: ['Ada Lovelace'] }),
  locale: nullableString({ examples: ['en'] }),
});

const CustomerMachine = Type.Object({
  machine_id: nullableString({ examples: ['4c4c4544-0044'] }),
  install_id: nullable(id('The install that was active last on it.')),
  license_id: id('The license.'),
  is_active: Type.Boolean(),
  last_seen_at: time(),
});

const CustomerChange = Type.Object({
  occurred_at: time(),
  actor: Type.String({ examples: ['operator:anna@example.com'] }),
  action: Type.String({ examples: ['customer.export'] }),
  reason: nullableString({ examples: ['request of 3 May'] }),
});

const machineId = { maxLength: 1_024, examples: ['4c4c4544-0044'] };

const otherLicenses = Type.Integer({
  description: 'How many licenses of others were activated there.',
  examples: [1],
});

const sharedDevices = {
  shared_installs: Type.Array(
    Type.Object({ id: id('The install.'), other_licenses: otherLicenses }),
    {
      description:
        'Installs on which licenses of others were activated, too. Their events are neither exported nor erased unless they are included. At most 200.',
    },
  ),
  shared_machines: Type.Array(
    Type.Object({ id: Type.String(machineId), other_licenses: otherLicenses }),
    { description: 'The same for machines and their days of use. At most 200.' },
  ),
};

const MAX_INCLUDED = 200;

const includeShared = {
  include_shared_installs: Type.Optional(
    Type.Array(uuid({ examples: [EXAMPLE_ID] }), {
      description:
        'The shared installs whose events are treated as the data of this person. Others are ignored.',
      maxItems: MAX_INCLUDED,
    }),
  ),
  include_shared_machines: Type.Optional(
    Type.Array(text(machineId), {
      description: 'The same for shared machines and their days of use.',
      maxItems: MAX_INCLUDED,
    }),
  ),
};

export const Customer = Type.Object(
  {
    email: Type.String({ examples: ['ada@example.com'] }),
    id: id('The id of the address in the audit log.'),
    licenses: Type.Array(CustomerLicense, { description: 'Newest first; at most 200.' }),
    machines: Type.Array(CustomerMachine, {
      description: 'Most recently seen first; at most 200.',
    }),
    ...sharedDevices,
    payments: Type.Array(CustomerPayment, { description: 'Newest first; at most 200.' }),
    subscriptions: Type.Array(CustomerSubscription, { description: 'Newest first; at most 200.' }),
    accounts: Type.Array(CustomerAccount, { description: 'Customers of payment providers.' }),
    mails: Type.Array(CustomerMail, { description: 'Newest first; at most 200.' }),
    newsletter: nullable(
      Type.Unsafe<{
        id: string;
        subscribed_at: string;
        confirmed_at: string | null;
        language: string | null;
      } | null>({
        type: 'object',
        properties: {
          id: { type: 'string', format: 'uuid' },
          subscribed_at: { type: 'string', format: 'date-time' },
          confirmed_at: { type: ['string', 'null'], format: 'date-time' },
          language: { type: ['string', 'null'] },
        },
        required: ['id', 'subscribed_at', 'confirmed_at', 'language'],
      }),
    ),
    suppressed: nullable(
      Type.Unsafe<{ reason: string; suppressed_at: string } | null>({
        type: 'object',
        description: 'Why the address gets no newsletter and no outreach.',
        properties: {
          reason: { type: 'string' },
          suppressed_at: { type: 'string', format: 'date-time' },
        },
        required: ['reason', 'suppressed_at'],
      }),
    ),
    changes: Type.Array(CustomerChange, { description: 'Exports and erasures, newest first.' }),
  },
  { $id: 'Customer', description: 'What is stored about the owner of an e-mail address.' },
);
export type Customer = Static<typeof Customer>;

export const CustomerExport = Type.Object(
  { email: email({ examples: ['ada@example.com'] }), reason, ...includeShared },
  { $id: 'CustomerExport' },
);
export type CustomerExport = Static<typeof CustomerExport>;

const revoke = Type.Optional(
  Type.Boolean({
    description: 'Whether the licenses are revoked too; default: they stay valid.',
    examples: [false],
  }),
);

export const CustomerErasurePlanRequest = Type.Object(
  { email: email({ examples: ['ada@example.com'] }), revoke, ...includeShared },
  { $id: 'CustomerErasurePlanRequest' },
);
export type CustomerErasurePlanRequest = Static<typeof CustomerErasurePlanRequest>;

export const CustomerErasurePlan = Type.Object(
  {
    tables: Type.Array(
      Type.Object({
        table: Type.String({ examples: ['licenses'] }),
        rows: Type.Integer({ examples: [2] }),
        outcome: Type.String({ examples: ['address, name and note deleted; still valid'] }),
      }),
    ),
    unapplied_events: Type.Integer({
      description:
        'Payment events that were not applied and keep their bodies: replay or dismiss them first.',
      examples: [0],
    }),
    ...sharedDevices,
  },
  { $id: 'CustomerErasurePlan', description: 'What an erasure would delete and keep.' },
);
export type CustomerErasurePlan = Static<typeof CustomerErasurePlan>;

export const CustomerErase = Type.Object(
  { email: email({ examples: ['ada@example.com'] }), reason, revoke, ...includeShared },
  { $id: 'CustomerErase' },
);
export type CustomerErase = Static<typeof CustomerErase>;

export const CustomerErased = Type.Object(
  {
    licenses: Type.Integer({ examples: [2] }),
    removed_bodies: Type.Integer({ examples: [5] }),
    kept_bodies: Type.Integer({
      description:
        'Of payment events that were not applied. Replay or dismiss them, then erase again.',
      examples: [0],
    }),
    kept_installs: Type.Integer({
      description: 'Shared installs that were not included, and keep their events.',
      examples: [0],
    }),
    kept_machines: Type.Integer({
      description: 'Shared machines that were not included, and keep their days of use.',
      examples: [0],
    }),
    archives: archiveLocations,
  },
  { $id: 'CustomerErased' },
);
export type CustomerErased = Static<typeof CustomerErased>;

/** The named schemas of this file. */
export const customerSchemas = [
  Customer,
  CustomerExport,
  CustomerErasurePlanRequest,
  CustomerErasurePlan,
  CustomerErase,
  CustomerErased,
] as const;
