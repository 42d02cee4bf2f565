/** What reports of use and of events have in common: the days, and counts by value. */
import { type Static, type TSchema, Type } from 'typebox';

import { dateTime, nullable, nullableString, ref, text } from './schema.ts';

const day = (description: string, example: string) =>
  text({ description, maxLength: 10, examples: [example] });

/** The query of a report: its days, and further parameters. */
export function reportQuery<Fields extends Record<string, TSchema>>(fields: Fields) {
  const days = {
    from: Type.Optional(
      day('The first day, in UTC; default: 29 days before `to`. At most 732 days.', '2026-10-24'),
    ),
    to: Type.Optional(day('The last day, in UTC; default: today.', '2026-11-22')),
  };
  return Type.Object({ ...days, ...fields }, { additionalProperties: false });
}

/** The days of a report in its answer. */
export const reportedDays = {
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

export const count = (description: string, example: number) =>
  Type.Integer({ description, examples: [example] });

const BreakdownItem = Type.Object(
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
    ...reportedDays,
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
