import { type Static, Type } from 'typebox';

import { dateTime, nullable, nullableString, oneOf, ref, text, uuid } from './schema.ts';

const day = (description: string, example: string) =>
  text({ description, maxLength: 10, examples: [example] });

/** The days of a report. */
const range = {
  from: Type.Optional(
    day('The first day, in UTC; default: 29 days before `to`. At most 732 days.', '2026-10-24'),
  ),
  to: Type.Optional(day('The last day, in UTC; default: today.', '2026-11-22')),
};

const rangeOfAnswer = {
  from: Type.String({ description: 'The first day.', examples: ['2026-10-24'] }),
  to: Type.String({ description: 'The last day.', examples: ['2026-11-22'] }),
  previous_from: Type.String({
    description: 'The first day of the period before, which is as long.',
    examples: ['2026-09-24'],
  }),
  previous_to: Type.String({ examples: ['2026-10-23'] }),
  up_to_date_at: nullable(
    dateTime({
      description: 'When the data was last rolled up; null: never.',
      examples: ['2026-11-22T10:05:00.000Z'],
    }),
  ),
};

function query<Fields extends Parameters<typeof Type.Object>[0]>(fields: Fields) {
  return Type.Object({ ...range, ...fields }, { additionalProperties: false });
}

const count = (description: string, example: number) =>
  Type.Integer({ description, examples: [example] });

/** The periods in which machines are counted. */
const USAGE_PERIODS = ['day', 'week', 'month'] as const;

export const UsageQuery = query({
  by: Type.Optional(
    oneOf(USAGE_PERIODS, { description: 'The period; weeks start on Monday. Default: `day`.' }),
  ),
});
export type UsageQuery = Static<typeof UsageQuery>;

const UsagePeriod = Type.Object({
  starts: Type.String({ examples: ['2026-11-22'] }),
  machines: count('Each machine counts once.', 412),
  previous_starts: Type.String({
    description: 'The period in the same place of the days before.',
    examples: ['2026-10-23'],
  }),
  previous_machines: count('', 388),
});

export const UsageReport = Type.Object(
  {
    ...rangeOfAnswer,
    by: oneOf(USAGE_PERIODS),
    periods: Type.Array(UsagePeriod, { description: 'The oldest first.' }),
  },
  { $id: 'UsageReport', description: 'Active machines, each with the period before.' },
);
export type UsageReport = Static<typeof UsageReport>;

const USAGE_GROUPS = ['version', 'platform', 'system'] as const;

export const UsageBreakdownQuery = query({
  by: Type.Optional(
    oneOf(USAGE_GROUPS, {
      description:
        'What machines are grouped by: the version of the application, the platform, or the operating system with its version. Default: `version`.',
    }),
  ),
});
export type UsageBreakdownQuery = Static<typeof UsageBreakdownQuery>;

export const BreakdownItem = Type.Object(
  {
    value: nullableString({
      description:
        'Empty: not sent. Null: all other values, those that were rare on a day included.',
      examples: ['2.4.0'],
    }),
    count: count('How many machine days, or events.', 8_120),
    share: Type.Number({ description: 'The share of the total, from 0 to 1.', examples: [0.62] }),
    previous_count: count('In the period before.', 7_004),
    previous_share: Type.Number({ examples: [0.55] }),
    installs: nullable(
      Type.Unsafe<number>({
        type: 'integer',
        description: 'The largest number of installs on a day; null: unknown.',
        examples: [318],
      }),
    ),
    last_day: nullableString({
      description: 'The last day with this value, in both periods.',
      examples: ['2026-11-22'],
    }),
    trend: Type.Array(Type.Integer(), {
      description:
        'The counts of the days, or of `trend_days` days each in a long period, the oldest first.',
      examples: [[260, 271, 268]],
    }),
  },
  { $id: 'BreakdownItem' },
);
export type BreakdownItem = Static<typeof BreakdownItem>;

export const Breakdown = Type.Object(
  {
    ...rangeOfAnswer,
    count: count('The sum of all items.', 13_096),
    previous_count: count('', 12_735),
    trend_days: count('How many days each number of a trend has.', 1),
    items: Type.Array(ref(BreakdownItem), {
      description: 'The largest first; at most 500, then all others.',
    }),
  },
  { $id: 'Breakdown', description: 'Counts by value, with the period before.' },
);
export type Breakdown = Static<typeof Breakdown>;

export const UsageRetentionQuery = query({});
export type UsageRetentionQuery = Static<typeof UsageRetentionQuery>;

const RetentionCohort = Type.Object({
  week: Type.String({
    description: 'The Monday of the first week of its machines.',
    examples: ['2026-11-16'],
  }),
  machines: count('The machines of the cohort.', 37),
  active: Type.Array(Type.Integer(), {
    description: 'How many of them were active in each week, the first one included.',
    examples: [[37, 31, 28]],
  }),
});

export const UsageRetention = Type.Object(
  {
    ...rangeOfAnswer,
    cohorts: Type.Array(RetentionCohort, { description: 'The oldest first.' }),
  },
  { $id: 'UsageRetention' },
);
export type UsageRetention = Static<typeof UsageRetention>;

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

export const EventNamesQuery = query({
  search: Type.Optional(text({ description: 'A part of the name.', maxLength: 200 })),
  version,
});
export type EventNamesQuery = Static<typeof EventNamesQuery>;

export const EventDaysQuery = query({ name, version });
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

export const EventDays = Type.Object(
  { ...rangeOfAnswer, days: Type.Array(EventDay, { description: 'The oldest first.' }) },
  { $id: 'EventDays' },
);
export type EventDays = Static<typeof EventDays>;

const EVENT_GROUPS = ['version', 'property', 'value'] as const;

export const EventBreakdownQuery = query({
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

const DroppedEvents = Type.Object({
  reason: Type.String({ examples: ['usage_sharing_off'] }),
  events: count('', 12),
  previous_events: count('', 0),
  last_day: nullableString({ examples: ['2026-11-22'] }),
});

export const EventDropsQuery = query({});
export type EventDropsQuery = Static<typeof EventDropsQuery>;

export const EventDrops = Type.Object(
  {
    ...rangeOfAnswer,
    items: Type.Array(DroppedEvents, { description: 'The most frequent first.' }),
  },
  { $id: 'EventDrops', description: 'Events that were received and not stored.' },
);
export type EventDrops = Static<typeof EventDrops>;

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

export const StoredEventPath = Type.Object({ event_id: uuid() });

/** The named schemas of reports. */
export const usageReportSchemas = [
  UsageReport,
  BreakdownItem,
  Breakdown,
  UsageRetention,
  EventDays,
  EventDrops,
  StoredEvent,
] as const;
