import { type Static, Type } from 'typebox';

import { listOf, pageQuery } from './admin-list.ts';
import { EXAMPLE_TIME, licensePath } from './license-fields.ts';
import { csvFile, operation } from './operation.ts';
import { dateTime, nullableString, oneOf, ref } from './schema.ts';

/** The kinds of items of a timeline. */
export const LICENSE_TIMELINE_KINDS = [
  'license',
  'audit',
  'payment',
  'mail',
  'machine',
  'refusal',
  'webhook',
] as const;

export const LicenseTimelineItem = Type.Object(
  {
    id: Type.String({ examples: ['audit:0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] }),
    occurred_at: dateTime({ examples: [EXAMPLE_TIME] }),
    kind: oneOf(LICENSE_TIMELINE_KINDS, { examples: ['audit'] }),
    code: Type.String({
      description:
        'The action of an audit entry, the type of a payment event or webhook, the state of an e-mail, the reason of refusals; `activated` or `deactivated`; `created`.',
      examples: ['license.suspend'],
    }),
    actor: nullableString({ examples: ['operator:anna@example.com'] }),
    reason: nullableString(),
    details: Type.Record(
      Type.String(),
      Type.Unsafe<string | number | boolean | null>({
        type: ['string', 'number', 'boolean', 'null'],
      }),
    ),
  },
  { $id: 'LicenseTimelineItem' },
);
export type LicenseTimelineItem = Static<typeof LicenseTimelineItem>;

const LicenseTimeline = listOf(LicenseTimelineItem, 'LicenseTimeline');

const timelineFilters = {
  kind: Type.Optional(oneOf(LICENSE_TIMELINE_KINDS, { description: 'Only this kind.' })),
};

const LicenseTimelineQuery = Type.Object(
  { ...timelineFilters, ...pageQuery },
  { additionalProperties: false },
);

const LicenseTimelineExportQuery = Type.Object(timelineFilters, {
  additionalProperties: false,
});

export const listLicenseTimeline = operation({
  id: 'listLicenseTimeline',
  method: 'GET',
  path: 'licenses/:id/timeline',
  summary: 'List what happened to a license',
  description:
    'Newest first: audit entries, payment events, mails, machines, refused requests by day, and outgoing webhooks.',
  permission: 'licenses:read',
  params: licensePath,
  query: LicenseTimelineQuery,
  response: ref(LicenseTimeline, 'A page of the timeline.'),
  errors: ['license_not_found'],
});

export const exportLicenseTimeline = operation({
  id: 'exportLicenseTimeline',
  method: 'GET',
  path: 'licenses/:id/timeline/export',
  summary: 'Export what happened to a license as CSV',
  description: 'Newest first. The audit log records it.',
  permission: 'licenses:export',
  params: licensePath,
  query: LicenseTimelineExportQuery,
  response: csvFile('One line for each item.'),
  errors: ['license_not_found'],
});
