import { type Static, Type } from 'typebox';
import { dateTime, email, text, uuid } from './schema.ts';

export const SubscriberCreate = Type.Object(
  { email: email({ examples: ['ada@example.com'] }) },
  { $id: 'SubscriberCreate' },
);
export type SubscriberCreate = Static<typeof SubscriberCreate>;

/** The headers of a subscription. */
export const SubscriberHeaders = Type.Object({
  'X-API-Key': Type.Optional(
    text({
      description:
        'An API key with the scope `subscribers:write`, created with `latchkey key create`, for a server that forwards its form. With it, the limit on requests of one address does not apply.',
    }),
  ),
});

export const SubscriberResponse = Type.Object(
  {
    id: uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] }),
    subscribed_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
    email: Type.String({ examples: ['ada@example.com'] }),
  },
  { $id: 'SubscriberResponse' },
);
export type SubscriberResponse = Static<typeof SubscriberResponse>;
