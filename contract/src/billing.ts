import { type Static, Type } from 'typebox';
import { PAYMENT_PROVIDERS } from './payment-providers.ts';
import { freeObject, nullableString, text } from './schema.ts';

/** The signature header of a payment provider. */
export const WebhookHeaders = Type.Object({
  'Billing-Signature': Type.Optional(
    text({
      description: 'HMAC-SHA256 of the time and the raw body: `ts=<unix>;h1=<hex>`.',
      examples: [
        'ts=1698796800;h1=28981e941fae76e53db32f3d2a83cb69db41476595e84e1970a1b5d98f62b261',
      ],
    }),
  ),
});

/** The path of the webhooks of other providers. */
export const ProviderPath = Type.Object({
  provider: text({
    description: `The payment provider: ${PAYMENT_PROVIDERS.map((name) => `\`${name}\``).join(', ')} (Standard Webhooks).`,
    examples: ['stripe'],
  }),
});

/** The address of the webhook of Gumroad, which does not sign. */
export const GumroadPath = Type.Object({
  secret: text({
    description: 'A secret of `LATCHKEY_GUMROAD_SECRETS`.',
    examples: ['0f3a9c5b7d1e8246a0c2e4f6'],
  }),
});

/** The body of a ping. */
export const gumroadPing = freeObject({
  description: 'The fields of the ping, as a form or as JSON.',
});

/** The body of a webhook in the provider's format. */
export const webhookPayload = freeObject({
  description: 'The event, in the exact bytes that the provider signed.',
});

const status = Type.String({
  description: 'The outcome: `processed`, `duplicate`, `ignored` or `deferred`.',
  examples: ['processed'],
});

const message = nullableString({
  description: 'Why the event was ignored or deferred; otherwise null.',
});

const eventId = { examples: ['evt_01hv8x29kz0t586xy6zn1a62ny'] };

export const WebhookResponse = Type.Object(
  {
    status,
    message: Type.Optional(message),
    event_id: Type.Optional(nullableString(eventId)),
    events: Type.Optional(
      Type.Array(Type.Object({ status, message, event_id: Type.String(eventId) }), {
        description:
          'The outcome of each event of a delivery that contained several; `status` is then `processed`, or the outcome of all of them.',
      }),
    ),
  },
  { $id: 'WebhookResponse' },
);
export type WebhookResponse = Static<typeof WebhookResponse>;
