import { type Static, Type } from 'typebox';

import { reason } from './admin-list.ts';
import { PaymentEvent } from './admin-payments.ts';
import { operation } from './operation.ts';
import { paymentEventPath } from './payment-fields.ts';
import { email, oneOf, ref, text, uuid } from './schema.ts';

/** What an operator can say about a payment. */
const REPAIR_KINDS = ['price', 'issue', 'subscription', 'address'] as const;

const MAX_ID_LENGTH = 200;
const MAX_QUANTITY = 100_000;

const PaymentRepairRequest = Type.Object(
  {
    kind: oneOf(REPAIR_KINDS, {
      description:
        '`price`: this price is that product; `issue`: a license of a product was sold; `subscription`: it is that license; `address`: the keys go there.',
      examples: ['price'],
    }),
    product: Type.Optional(
      text({
        description: 'Of `price` and `issue`: a product of the catalogue.',
        maxLength: MAX_ID_LENGTH,
        examples: ['personal'],
      }),
    ),
    price_id: Type.Optional(
      text({
        description: 'Of `price`; default: the only price of the payment.',
        maxLength: MAX_ID_LENGTH,
        examples: ['pri_01gsz8x8sawmvhz1pv30nge1ke'],
      }),
    ),
    for_all: Type.Optional(
      Type.Boolean({
        description:
          'Of `price`: in every purchase of the provider that the catalogue has no product for; default: in this purchase only.',
      }),
    ),
    quantity: Type.Optional(
      Type.Integer({
        description: 'Of `issue`: how many were sold; multiplies the machines. Default: 1.',
        minimum: 1,
        maximum: MAX_QUANTITY,
        examples: [1],
      }),
    ),
    license_id: Type.Optional(
      uuid({ description: 'Of `subscription`: a license that no purchase created.' }),
    ),
    email: Type.Optional(
      email({
        description:
          'Of `address`: the keys of the purchase are sent there now, and later ones too. Of `issue`: the same; required if the event has no buyer that can be read.',
        examples: ['ada@example.com'],
      }),
    ),
    transaction_id: Type.Optional(
      text({
        description:
          'Of `issue` and `address`: the transaction of the payment as refunds name it, for an event whose payment cannot be read.',
        maxLength: MAX_ID_LENGTH,
        examples: ['txn_01hv8wptq8987qeep44cyrewp9'],
      }),
    ),
    subscription_id: Type.Optional(
      text({
        description:
          'Of `issue` and `address`: the subscription that such a payment is of. Its renewals extend the license.',
        maxLength: MAX_ID_LENGTH,
        examples: ['sub_01hv8x29kz0t586xy6zn1a62ny'],
      }),
    ),
    reason,
  },
  { $id: 'PaymentRepairRequest', additionalProperties: false },
);
export type PaymentRepairRequest = Static<typeof PaymentRepairRequest>;

export const repairPaymentEvent = operation({
  id: 'repairPaymentEvent',
  method: 'POST',
  path: 'payment-events/:provider/:event_id/repair',
  summary: 'Repair a payment',
  description:
    'Stores what the operator says as a fact beside those of the provider, and computes the licenses of the purchase again. Replays keep it.',
  permission: 'payment-events:change',
  params: paymentEventPath,
  body: ref(PaymentRepairRequest),
  response: ref(PaymentEvent, 'The event after the repair.'),
  errors: ['not_found', 'not_possible'],
});
