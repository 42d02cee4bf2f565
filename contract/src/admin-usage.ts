import { type Static, Type } from 'typebox';

import { csvFile, operation } from './operation.ts';
import { Breakdown, count, reportedDays, reportQuery } from './report-fields.ts';
import { oneOf, ref } from './schema.ts';

/** The periods in which machines are counted. */
const USAGE_PERIODS = ['day', 'week', 'month'] as const;

const UsageQuery = reportQuery({
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

const UsageReport = Type.Object(
  {
    ...reportedDays,
    by: oneOf(USAGE_PERIODS),
    periods: Type.Array(UsagePeriod, { description: 'The oldest first.' }),
  },
  { $id: 'UsageReport', description: 'Active machines, each with the period before.' },
);
export type UsageReport = Static<typeof UsageReport>;

export const reportUsage = operation({
  id: 'reportUsage',
  method: 'GET',
  path: 'usage',
  summary: 'Count active machines by day, week or month',
  permission: 'usage:read',
  query: UsageQuery,
  response: ref(UsageReport, 'The machines of each period, and of the periods before.'),
});

export const exportUsage = operation({
  ...reportUsage,
  id: 'exportUsage',
  path: 'usage/export',
  summary: 'Export active machines',
  response: csvFile('One line for each period.'),
});

const USAGE_GROUPS = ['version', 'platform', 'system'] as const;

const UsageBreakdownQuery = reportQuery({
  by: Type.Optional(
    oneOf(USAGE_GROUPS, {
      description:
        'What machines are grouped by: the version of the application, the platform, or the operating system with its version. Default: `version`.',
    }),
  ),
});
export type UsageBreakdownQuery = Static<typeof UsageBreakdownQuery>;

export const breakDownUsage = operation({
  id: 'breakDownUsage',
  method: 'GET',
  path: 'usage/breakdown',
  summary: 'Count machine days by version, platform or system',
  permission: 'usage:read',
  query: UsageBreakdownQuery,
  response: ref(Breakdown, 'The values, the largest first.'),
});

export const exportUsageBreakdown = operation({
  ...breakDownUsage,
  id: 'exportUsageBreakdown',
  path: 'usage/breakdown/export',
  summary: 'Export machine days by version, platform or system',
  response: csvFile('One line for each value.'),
});

const UsageRetentionQuery = reportQuery({});
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

const UsageRetention = Type.Object(
  {
    ...reportedDays,
    cohorts: Type.Array(RetentionCohort, { description: 'The oldest first.' }),
  },
  { $id: 'UsageRetention' },
);
export type UsageRetention = Static<typeof UsageRetention>;

export const reportRetention = operation({
  id: 'reportRetention',
  method: 'GET',
  path: 'usage/retention',
  summary: 'Count the machines that are still active in the weeks after their first',
  permission: 'usage:read',
  query: UsageRetentionQuery,
  response: ref(UsageRetention, 'The machines by their first week.'),
});

export const exportRetention = operation({
  ...reportRetention,
  id: 'exportRetention',
  path: 'usage/retention/export',
  summary: 'Export the machines that are still active in the weeks after their first',
  response: csvFile('One line for each first week and each week after it.'),
});
