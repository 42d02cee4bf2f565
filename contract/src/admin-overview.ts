import { type Static, Type } from 'typebox';

import { operation } from './operation.ts';
import { dateTime, nullable, oneOf, ref } from './schema.ts';

/** `critical`: the service does not do its work; `warning`: something was not done; `notice`: good to know. */
export const NEED_SEVERITIES = ['critical', 'warning', 'notice'] as const;

/** The figures of the start page. */
const FIGURE_NAMES = [
  'usable_licenses',
  'new_licenses',
  'trials_started',
  'trials_converted',
  'active_machines',
] as const;

/** How many days a figure covers, today included. */
export const FIGURE_DAYS = 30;

const Need = Type.Object(
  {
    code: Type.String({
      description: 'Stable: what it is about.',
      examples: ['payment_events.failed'],
    }),
    severity: oneOf(NEED_SEVERITIES, { examples: ['warning'] }),
    count: Type.Integer({ description: 'How many; at most 10,000 are counted.', examples: [3] }),
    since: nullable(
      dateTime({
        description: 'When the oldest item arose.',
        examples: ['2026-11-20T10:00:00.000Z'],
      }),
    ),
    sentence: Type.String({
      description: 'What it means and what to do.',
      examples: ['3 payment events failed, so their licenses did not change.'],
    }),
    path: Type.String({
      description: 'The page of the console that solves it, below `/console`.',
      examples: ['/payments?state=failed'],
    }),
  },
  { $id: 'Need' },
);
export type Need = Static<typeof Need>;

const days = (description: string) =>
  Type.Unsafe<(number | null)[]>({
    type: 'array',
    items: { type: ['number', 'null'] },
    description,
  });

const Figure = Type.Object(
  {
    name: oneOf(FIGURE_NAMES, { examples: ['new_licenses'] }),
    value: nullable(
      Type.Unsafe<number>({
        type: 'number',
        description:
          'Of `usable_licenses` the newest number, of `active_machines` the average of the complete days, else the sum; null: not counted yet.',
        examples: [42],
      }),
    ),
    previous: nullable(
      Type.Unsafe<number>({
        type: 'number',
        description: 'The value of the 30 days before.',
        examples: [38],
      }),
    ),
    days: days('The number of each of the last 30 days, oldest first; the last one is today.'),
    previous_days: days('The number of each of the 30 days before.'),
  },
  { $id: 'Figure' },
);
export type Figure = Static<typeof Figure>;

const Overview = Type.Object(
  {
    needs: Type.Array(ref(Need), { description: 'The most severe first, then the oldest.' }),
    figures: Type.Array(ref(Figure)),
    first_day: Type.String({ description: 'The first of `days`.', examples: ['2026-10-24'] }),
    rolled_at: nullable(
      dateTime({
        description: 'When licenses were last counted; null: not yet.',
        examples: ['2026-11-22T10:00:00.000Z'],
      }),
    ),
  },
  { $id: 'Overview' },
);
export type Overview = Static<typeof Overview>;

export const showOverview = operation({
  id: 'showOverview',
  method: 'GET',
  path: 'overview',
  summary: 'Show what needs an operator, and the figures of the last 30 days',
  description:
    'Cheap to poll: what needs an operator is read every 10 seconds at most, and the figures, which come from roll-ups, every minute.',
  permission: 'overview:read',
  response: ref(Overview, 'The overview.'),
});
