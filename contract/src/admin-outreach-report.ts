import { type Static, Type } from 'typebox';

import { campaignParams } from './admin-outreach.ts';
import { LANGUAGES } from './constants.ts';
import { listBelow } from './list-resource.ts';
import { operation } from './operation.ts';
import { dateTime, nullable, nullableString, oneOf, ref } from './schema.ts';

const language = oneOf(LANGUAGES, { examples: ['en'] });

export const CampaignReport = Type.Object(
  {
    unsubscribed: Type.Integer({
      description: 'Who got the mail and was suppressed later.',
      examples: [120],
    }),
    by_language: Type.Array(Type.Object({ language, sent: Type.Integer({ examples: [100] }) })),
    reasons: Type.Array(
      Type.Object({
        state: oneOf(['failed', 'unknown'], { examples: ['failed'] }),
        error: Type.String({ examples: ['smtp_550'] }),
        count: Type.Integer({ examples: [2] }),
      }),
      { description: 'Why messages were not sent, the most frequent first.' },
    ),
    kept_until: nullable(
      dateTime({
        description: 'Until when recipients are listed; null for a draft.',
        examples: ['2026-12-20T10:00:00.000Z'],
      }),
    ),
  },
  { $id: 'CampaignReport' },
);
export type CampaignReport = Static<typeof CampaignReport>;

export const reportCampaign = operation({
  id: 'reportCampaign',
  method: 'GET',
  path: 'outreach/campaigns/:id/report',
  summary: 'Show the outcomes of a campaign',
  permission: 'campaigns:read',
  params: campaignParams,
  response: ref(CampaignReport, 'The report.'),
  errors: ['not_found'],
});

const MESSAGE_RESULTS = [
  'waiting',
  'sending',
  'sent',
  'failed',
  'suppressed',
  'canceled',
  'unknown',
  'unsubscribed',
] as const;

export const CampaignMessage = Type.Object(
  {
    position: Type.Integer({ examples: [0] }),
    email: nullableString({
      description: 'Null when it was erased.',
      examples: ['ada@example.com'],
    }),
    name: nullableString({ examples: ['Ada'] }),
    language,
    result: oneOf(MESSAGE_RESULTS, {
      description: '`unsubscribed`: sent, and suppressed later.',
      examples: ['sent'],
    }),
    error: nullableString({ examples: ['smtp_550: mailbox unavailable'] }),
    ended_at: nullable(dateTime({ examples: ['2026-11-20T10:00:07.000Z'] })),
    message_id: Type.String({ examples: ['<outreach-0190a6b2@example.com>'] }),
  },
  { $id: 'CampaignMessage' },
);
export type CampaignMessage = Static<typeof CampaignMessage>;

export const campaignMessages = listBelow(campaignParams, {
  id: 'CampaignMessages',
  name: 'outreach',
  title: 'campaign messages',
  description: 'In the order in which they are sent.',
  path: 'outreach/campaigns/:id/messages',
  item: CampaignMessage,
  sorts: ['position'],
  search: 'A complete address.',
  filters: { result: Type.Optional(oneOf(MESSAGE_RESULTS)) },
  permissions: { read: 'campaigns:read', export: 'campaigns:export-recipients' },
});
