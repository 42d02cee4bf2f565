import { type Static, Type } from 'typebox';

import { operation } from './operation.ts';
import { CustomerPayments } from './reported-money.ts';
import { dateTime, email, nullable, nullableString, oneOf, ref, uuid } from './schema.ts';

const EXAMPLE_ID = '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d';
const EXAMPLE_TIME = '2026-11-20T10:00:00.000Z';

const time = (description?: string) =>
  dateTime({ ...(description === undefined ? {} : { description }), examples: [EXAMPLE_TIME] });

const id = (description: string) => uuid({ description, examples: [EXAMPLE_ID] });

const CustomerQuery = Type.Object(
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

/** The id of a machine. */
export const machineId = { maxLength: 1_024, examples: ['4c4c4544-0044'] };

const otherLicenses = Type.Integer({
  description: 'How many licenses of others were activated there.',
  examples: [1],
});

/** The installs and machines of a person that are those of others, too. */
export const sharedDevices = {
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

const Customer = Type.Object(
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

export const showCustomer = operation({
  id: 'showCustomer',
  method: 'GET',
  path: 'customer',
  summary: 'Show what belongs to the owner of an e-mail address',
  description: 'An unknown address is answered with empty lists.',
  permission: 'customers:read',
  query: CustomerQuery,
  response: ref(Customer, 'Licenses, payments, e-mails and subscriptions.'),
});

export const listCustomerPayments = operation({
  id: 'listCustomerPayments',
  method: 'GET',
  path: 'customer/payments',
  summary: 'List all purchases and refunds of the owner of an e-mail address',
  description:
    'Money that two events report is listed once. An unknown address is answered with empty lists.',
  permission: 'customers:read',
  query: CustomerQuery,
  response: ref(CustomerPayments, 'Payments, refunds and disputes, and their totals.'),
});
