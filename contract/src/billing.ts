import { type Static, Type } from 'typebox';
import { freeObject, nullableString, text } from './schema.ts';

/** The headers of a payment provider's call. */
export const WebhookHeaders = Type.Object({
  'Billing-Signature': Type.Optional(
    text({
      description: 'HMAC-SHA256 over time and raw body: `ts=<unix>;h1=<hex>`.',
      examples: [
        'ts=1698796800;h1=28981e941fae76e53db32f3d2a83cb69db41476595e84e1970a1b5d98f62b261',
      ],
    }),
  ),
});

/** The path of another provider's calls. */
export const ProviderPath = Type.Object({
  provider: text({
    description:
      'The payment provider: `stripe`, `lemonsqueezy` or `standard` (Standard Webhooks).',
    examples: ['stripe'],
  }),
});

/** The body of a payment provider's call: whatever the provider sends. */
export const webhookPayload = freeObject({
  description: "The event, exactly as the payment provider's signature covers it.",
});

export const WebhookResponse = Type.Object(
  {
    status: Type.String({
      description: 'What became of the event: `processed`, `duplicate`, `ignored` or `deferred`.',
      examples: ['processed'],
    }),
    message: Type.Optional(
      nullableString({ description: 'Why it was ignored or deferred; null when it was neither.' }),
    ),
    event_id: Type.Optional(nullableString({ examples: ['evt_01hv8x29kz0t586xy6zn1a62ny'] })),
  },
  { $id: 'WebhookResponse' },
);
export type WebhookResponse = Static<typeof WebhookResponse>;
