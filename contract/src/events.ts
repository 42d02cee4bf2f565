import { type Static, Type } from 'typebox';
import { dateTime, nullable, ref, text, textMap, uuid } from './schema.ts';

export const MAX_EVENTS = 500;

export const EventIn = Type.Object(
  {
    event_id: uuid({
      description: 'The idempotency key: an event is stored once.',
      examples: ['6512bd43-d9ca-46e0-8c4b-7d9f0a1b2c33'],
    }),
    name: text({ examples: ['app_started'] }),
    occurred_at: dateTime({
      description: 'A time without an offset is in UTC.',
      examples: ['2026-11-20T10:00:00Z'],
    }),
    props: Type.Optional(nullable(textMap({ examples: [{ plan: 'pro' }] }))),
  },
  { $id: 'EventIn' },
);
export type EventIn = Static<typeof EventIn>;

export const EventBatch = Type.Object(
  {
    install_id: uuid({ examples: ['8f14e45f-ceea-467f-a8f5-5d3b8a6e3c11'] }),
    session_id: uuid({ examples: ['45c48cce-2e2d-4fbd-ab9c-1c0e2b7f4a22'] }),
    app_version: text({ examples: ['2.4.0'] }),
    os_version: Type.Optional(nullable(text({ examples: ['15.1'] }))),
    events: Type.Array(ref(EventIn), { minItems: 1, maxItems: MAX_EVENTS }),
  },
  { $id: 'EventBatch' },
);
export type EventBatch = Static<typeof EventBatch>;

export const EventBatchResponse = Type.Object(
  {
    accepted: Type.Integer({ description: 'Events that this call stored.', examples: [9] }),
    dropped: Type.Integer({
      description: 'All other events; the header `X-Events-Dropped` has the reasons.',
      examples: [1],
    }),
  },
  { $id: 'EventBatchResponse' },
);
export type EventBatchResponse = Static<typeof EventBatchResponse>;
