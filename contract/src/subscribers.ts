import { type Static, Type } from 'typebox';
import { dateTime, email, uuid } from './schema.ts';

export const SubscriberCreate = Type.Object(
  { email: email({ examples: ['ada@example.com'] }) },
  { $id: 'SubscriberCreate' },
);
export type SubscriberCreate = Static<typeof SubscriberCreate>;

export const SubscriberResponse = Type.Object(
  {
    id: uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] }),
    subscribed_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
    email: Type.String({ examples: ['ada@example.com'] }),
  },
  { $id: 'SubscriberResponse' },
);
export type SubscriberResponse = Static<typeof SubscriberResponse>;
