import { type Static, Type } from 'typebox';

import { listResource } from './list-resource.ts';
import { csvFile, operation } from './operation.ts';
import { dateTime, nullable, nullableString, oneOf, ref, text, uuid } from './schema.ts';

/** `converted`: a license followed; else `running`: the software may run; or `ended`. */
const TRIAL_STATES = ['running', 'ended', 'converted'] as const;

export type TrialState = (typeof TRIAL_STATES)[number];

const EXAMPLE_ID = '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d';

const product = Type.Optional(
  text({
    description: 'Only trials of the product with this id.',
    maxLength: 200,
    examples: ['personal'],
  }),
);

const day = (description: string) =>
  Type.Optional(text({ description, maxLength: 10, examples: ['2026-11-01'] }));

export const AdminTrial = Type.Object(
  {
    id: uuid({ description: 'The id of its license.', examples: [EXAMPLE_ID] }),
    product_id: Type.String({ examples: ['personal'] }),
    key_hint: Type.String({ description: 'The last characters of the key.', examples: ['9K2M'] }),
    state: oneOf(TRIAL_STATES, { examples: ['running'] }),
    created_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
    expires_at: nullable(dateTime({ examples: ['2026-11-27T10:00:00.000Z'] })),
    machine_id: nullableString({
      description: 'The machine; its fingerprint if it did not send an id.',
      examples: ['4c4c4544-0044'],
    }),
    os_version: nullableString({ examples: ['macOS 15.1'] }),
    app_version: nullableString({ examples: ['2.4.0'] }),
    last_seen_at: nullable(dateTime({ examples: ['2026-11-21T08:12:00.000Z'] })),
    conversion: nullable(
      Type.Unsafe<{ license_id: string; product_id: string; converted_at: string } | null>({
        type: 'object',
        description:
          'The first license activated within 14 days on the same machine or by the same install. Updated every hour.',
        properties: {
          license_id: { type: 'string', format: 'uuid', examples: [EXAMPLE_ID] },
          product_id: { type: 'string', examples: ['personal'] },
          converted_at: { type: 'string', format: 'date-time' },
        },
        required: ['license_id', 'product_id', 'converted_at'],
      }),
    ),
  },
  { $id: 'AdminTrial' },
);
export type AdminTrial = Static<typeof AdminTrial>;

export const trials = listResource({
  id: 'Trials',
  name: 'trial',
  title: 'trials',
  path: 'trials',
  item: AdminTrial,
  sorts: ['-created_at', 'expires_at'],
  search: 'The beginning of the id of a machine, or the last characters of the key.',
  filters: {
    state: Type.Optional(oneOf(TRIAL_STATES, { description: 'Only trials in this state.' })),
    product,
  },
  permissions: { read: 'trials:read', export: 'trials:export' },
});

const TrialReportQuery = Type.Object(
  {
    from: day(
      'The first day of the report; it begins with the week of that day. Default: twelve weeks before `to`.',
    ),
    to: day('The last day of the report; default: today.'),
    product,
  },
  { additionalProperties: false },
);
export type TrialReportQuery = Static<typeof TrialReportQuery>;

const counts = {
  trials: Type.Integer({ description: 'Trials that started.', examples: [120] }),
  converted: Type.Integer({ description: 'Those that led to a license.', examples: [18] }),
  share: Type.Number({ description: 'From 0 to 1.', examples: [0.15] }),
};

const TrialWeekCount = Type.Object(
  {
    week: Type.String({ description: 'The Monday.', examples: ['2026-11-16'] }),
    ...counts,
    open: Type.Boolean({ description: 'Whether trials of the week may still convert.' }),
  },
  { $id: 'TrialWeekCount' },
);

const TrialProductCount = Type.Object(
  { product_id: Type.String({ examples: ['personal'] }), ...counts },
  { $id: 'TrialProductCount', description: 'Trials by the product that was tried.' },
);

const TrialPurchaseCount = Type.Object(
  {
    product_id: Type.String({ examples: ['personal'] }),
    converted: Type.Integer({ examples: [18] }),
  },
  { $id: 'TrialPurchaseCount', description: 'Conversions by the product of the license.' },
);

export const TrialReport = Type.Object(
  {
    from: Type.String({ examples: ['2026-08-31'] }),
    to: Type.String({ examples: ['2026-11-22'] }),
    ...counts,
    weeks: Type.Array(ref(TrialWeekCount), {
      description: 'Oldest first; weeks without trials are absent.',
    }),
    products: Type.Array(ref(TrialProductCount), { description: 'The most tried first.' }),
    purchases: Type.Array(ref(TrialPurchaseCount), { description: 'The most bought first.' }),
    rolled_at: nullable(
      dateTime({
        description: 'When trials were last counted; null: not yet.',
        examples: ['2026-11-22T10:00:00.000Z'],
      }),
    ),
  },
  { $id: 'TrialReport' },
);
export type TrialReport = Static<typeof TrialReport>;

export const reportTrials = operation({
  id: 'reportTrials',
  method: 'GET',
  path: 'trials/report',
  summary: 'Report the conversion of trials by week and by product',
  description: 'From roll-ups, which are updated every hour.',
  permission: 'trials:read',
  query: TrialReportQuery,
  response: ref(TrialReport, 'The counts.'),
});

export const exportTrialReport = operation({
  id: 'exportTrialReport',
  method: 'GET',
  path: 'trials/report/export',
  summary: 'Export the conversion of trials by week as CSV',
  permission: 'trials:read',
  query: TrialReportQuery,
  response: csvFile('One line for each week with trials.'),
});
