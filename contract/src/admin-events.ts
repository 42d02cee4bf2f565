import { type Static, Type } from 'typebox';

import { csvFile, operation } from './operation.ts';
import { Breakdown, count, reportedDays, reportQuery } from './report-fields.ts';
import { dateTime, nullable, nullableString, oneOf, ref, text, uuid } from './schema.ts';

const name = text({
  description: 'The name of the event.',
  maxLength: 1_000,
  examples: ['export_finished'],
});

const version = Type.Optional(
  text({
    description: 'Only events of this version of the application.',
    maxLength: 1_000,
    examples: ['2.4.0'],
  }),
);

const EventNamesQuery = reportQuery({
  search: Type.Optional(text({ description: 'A part of the name.', maxLength: 200 })),
  version,
});
export type EventNamesQuery = Static<typeof EventNamesQuery>;

export const reportEvents = operation({
  id: 'reportEvents',
  method: 'GET',
  path: 'events',
  summary: 'Count events by name',
  permission: 'events:read',
  query: EventNamesQuery,
  response: ref(Breakdown, 'The events, the most frequent first.'),
});

export const exportEvents = operation({
  ...reportEvents,
  id: 'exportEvents',
  path: 'events/export',
  summary: 'Export the counts of events by name',
  response: csvFile('One line for each event.'),
});

const EventDaysQuery = reportQuery({ name, version });
export type EventDaysQuery = Static<typeof EventDaysQuery>;

const EventDay = Type.Object({
  day: Type.String({ examples: ['2026-11-22'] }),
  events: count('', 812),
  installs: nullable(
    Type.Unsafe<number>({ type: 'integer', description: 'Null: unknown.', examples: [290] }),
  ),
  previous_day: Type.String({ examples: ['2026-10-23'] }),
  previous_events: count('', 740),
});

const EventDays = Type.Object(
  { ...reportedDays, days: Type.Array(EventDay, { description: 'The oldest first.' }) },
  { $id: 'EventDays' },
);
export type EventDays = Static<typeof EventDays>;

export const reportEventDays = operation({
  id: 'reportEventDays',
  method: 'GET',
  path: 'events/days',
  summary: 'Count an event on each day',
  permission: 'events:read',
  query: EventDaysQuery,
  response: ref(EventDays, 'The event on each day, and on the days before.'),
});

export const exportEventDays = operation({
  ...reportEventDays,
  id: 'exportEventDays',
  path: 'events/days/export',
  summary: 'Export the counts of an event on each day',
  response: csvFile('One line for each day.'),
});

const EVENT_GROUPS = ['version', 'property', 'value'] as const;

const EventBreakdownQuery = reportQuery({
  name,
  by: Type.Optional(
    oneOf(EVENT_GROUPS, {
      description:
        'What events are grouped by: the version of the application, the properties, or the values of the property `key`. Default: `version`.',
    }),
  ),
  key: Type.Optional(
    text({
      description: 'The property; needed by `value`.',
      maxLength: 1_000,
      examples: ['format'],
    }),
  ),
});
export type EventBreakdownQuery = Static<typeof EventBreakdownQuery>;

export const breakDownEvent = operation({
  id: 'breakDownEvent',
  method: 'GET',
  path: 'events/breakdown',
  summary: 'Count an event by version, property, or value of a property',
  permission: 'events:read',
  query: EventBreakdownQuery,
  response: ref(Breakdown, 'The values, the most frequent first.'),
});

export const exportEventBreakdown = operation({
  ...breakDownEvent,
  id: 'exportEventBreakdown',
  path: 'events/breakdown/export',
  summary: 'Export the counts of an event by version, property, or value of a property',
  response: csvFile('One line for each value.'),
});

const DroppedEvents = Type.Object({
  reason: Type.String({ examples: ['usage_sharing_off'] }),
  events: count('', 12),
  previous_events: count('', 0),
  last_day: nullableString({ examples: ['2026-11-22'] }),
});

const EventDropsQuery = reportQuery({});
export type EventDropsQuery = Static<typeof EventDropsQuery>;

const EventDrops = Type.Object(
  {
    ...reportedDays,
    items: Type.Array(DroppedEvents, { description: 'The most frequent first.' }),
  },
  { $id: 'EventDrops', description: 'Events that were received and not stored.' },
);
export type EventDrops = Static<typeof EventDrops>;

export const reportEventDrops = operation({
  id: 'reportEventDrops',
  method: 'GET',
  path: 'events/drops',
  summary: 'Count the events that were not stored, by reason',
  permission: 'events:read',
  query: EventDropsQuery,
  response: ref(EventDrops, 'The reasons, the most frequent first.'),
});

export const exportEventDrops = operation({
  ...reportEventDrops,
  id: 'exportEventDrops',
  path: 'events/drops/export',
  summary: 'Export the counts of events that were not stored, by reason',
  response: csvFile('One line for each reason.'),
});

export const StoredEvent = Type.Object(
  {
    event_id: uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] }),
    name: Type.String({ examples: ['export_finished'] }),
    install_id: uuid({ examples: ['3f2b8c1e-7c1e-4d32-9c41-3f5f0a1b2c3d'] }),
    session_id: uuid({ examples: ['3f2b8c1e-7c1e-4d32-9c41-3f5f0a1b2c3e'] }),
    occurred_at: dateTime({ examples: ['2026-11-22T10:00:00.000Z'] }),
    client_occurred_at: nullable(
      dateTime({
        description: 'The time by the clock of the client, if it was corrected.',
        examples: ['2026-11-22T11:00:00.000Z'],
      }),
    ),
    received_at: dateTime({ examples: ['2026-11-22T10:00:05.000Z'] }),
    app_version: Type.String({ examples: ['2.4.0'] }),
    os_version: nullableString({ examples: ['macOS 15.1'] }),
    props: nullable(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        additionalProperties: true,
        examples: [{ format: 'pdf' }],
      }),
    ),
  },
  { $id: 'StoredEvent' },
);
export type StoredEvent = Static<typeof StoredEvent>;

export const showEvent = operation({
  id: 'showEvent',
  method: 'GET',
  path: 'events/stored/:event_id',
  summary: 'Show a stored event',
  permission: 'events:read',
  params: Type.Object({ event_id: uuid() }),
  response: ref(StoredEvent, 'The event.'),
  errors: ['not_found'],
});
