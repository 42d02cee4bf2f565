import { type Static, Type } from 'typebox';

import { expectedVersion, reason } from './admin-list.ts';
import { Done } from './admin-session.ts';
import { LANGUAGES } from './constants.ts';
import { listResource } from './list-resource.ts';
import { operation } from './operation.ts';
import {
  AUDIENCE_SOURCES,
  CampaignAudience,
  CampaignTexts,
  MAX_CAMPAIGN_NAME_LENGTH,
  MAX_LIST_BYTES,
  MAX_TEXTS_BYTES,
  recipientList,
} from './outreach-content.ts';
import { dateTime, integer, nullable, nullableString, oneOf, ref, text, uuid } from './schema.ts';

/** `paused` also by the service, when the relay fails for an hour. */
export const CAMPAIGN_STATES = ['draft', 'sending', 'paused', 'sent', 'canceled'] as const;
export type CampaignState = (typeof CAMPAIGN_STATES)[number];

const language = oneOf(LANGUAGES, { examples: ['en'] });
const count = (description: string) => Type.Integer({ description, examples: [120] });

/** How many messages have which outcome. */
const CampaignCounts = Type.Object(
  {
    total: count('All recipients, without duplicates and invalid addresses.'),
    waiting: count('Not sent yet.'),
    canceled: count('Not sent, because the campaign was canceled.'),
    sent: count('The relay accepted the message.'),
    failed: count('The relay rejected the message, or could not be reached.'),
    suppressed: count('Not sent, because the address is suppressed.'),
    unknown: count('The message may have been sent: the relay did not confirm it.'),
    duplicates: count('Addresses that occurred more than once.'),
    invalid: count('Texts that are no address.'),
  },
  { $id: 'CampaignCounts' },
);

const summary = {
  id: uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] }),
  name: Type.String({ description: 'Only for operators.', examples: ['Version 2.0'] }),
  state: oneOf(CAMPAIGN_STATES, { examples: ['sending'] }),
  languages: Type.Array(language),
  source: oneOf(AUDIENCE_SOURCES, { examples: ['subscribers'] }),
  counts: ref(CampaignCounts),
  created_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
  updated_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
  updated_by: Type.String({ examples: ['operator:anna@example.com'] }),
  started_at: nullable(dateTime({ examples: ['2026-11-20T10:00:00.000Z'] })),
  started_by: nullableString({ examples: ['operator:anna@example.com'] }),
  ended_at: nullable(dateTime({ examples: ['2026-11-20T10:20:00.000Z'] })),
};

export const CampaignSummary = Type.Object(summary, { $id: 'CampaignSummary' });
export type CampaignSummary = Static<typeof CampaignSummary>;

export const campaigns = listResource({
  id: 'Campaigns',
  name: 'outreach',
  title: 'campaigns',
  description: 'Their numbers, without texts and recipients.',
  path: 'outreach/campaigns',
  item: CampaignSummary,
  sorts: ['-created_at'],
  search: 'The start of a word of the name.',
  filters: { state: Type.Optional(oneOf(CAMPAIGN_STATES)) },
  permissions: { read: 'campaigns:read', export: 'campaigns:export' },
  columns: [
    'id',
    'name',
    'state',
    'languages',
    'source',
    'counts.total',
    'counts.waiting',
    'counts.canceled',
    'counts.sent',
    'counts.failed',
    'counts.suppressed',
    'counts.unknown',
    'created_at',
    'updated_at',
    'updated_by',
    'started_at',
    'started_by',
    'ended_at',
  ],
});

/** Names a campaign in a path. */
export const campaignParams = Type.Object({ id: uuid() });

export const Campaign = Type.Object(
  {
    ...summary,
    version: Type.Integer({ examples: [3] }),
    texts: ref(CampaignTexts),
    default_language: oneOf(LANGUAGES, {
      description: 'Of recipients without a language, or with one that the texts lack.',
      examples: ['en'],
    }),
    audience: ref(CampaignAudience),
    problem: nullableString({
      description:
        'Why sending does not go on: an error of the relay, such as `connection` or `login`.',
      examples: ['connection'],
    }),
    problem_since: nullable(dateTime({ examples: ['2026-11-20T10:05:00.000Z'] })),
    next_attempt_at: nullable(
      dateTime({
        description: 'When the service tries again; null: now.',
        examples: ['2026-11-20T10:06:00.000Z'],
      }),
    ),
  },
  { $id: 'Campaign' },
);
export type Campaign = Static<typeof Campaign>;

const content = {
  name: text({ minLength: 1, maxLength: MAX_CAMPAIGN_NAME_LENGTH, examples: ['Version 2.0'] }),
  texts: ref(CampaignTexts),
  default_language: language,
  audience: ref(CampaignAudience),
};

export const CampaignCreate = Type.Object(content, {
  $id: 'CampaignCreate',
  additionalProperties: false,
});
export type CampaignCreate = Static<typeof CampaignCreate>;

const CampaignUpdate = Type.Object(
  { ...content, expected_version: expectedVersion },
  { $id: 'CampaignUpdate', additionalProperties: false },
);

const CampaignSend = Type.Object(
  {
    expected_version: expectedVersion,
    max_recipients: integer({
      description:
        'The number of recipients that the operator saw. When more would get the mail, the answer is 409 `recipients_changed`.',
      minimum: 0,
      maximum: 2_147_483_647,
      examples: [120],
    }),
    list: recipientList,
  },
  { $id: 'CampaignSend', additionalProperties: false },
);

const CampaignCancel = Type.Object(
  { reason },
  { $id: 'CampaignCancel', additionalProperties: false },
);

export const showCampaign = operation({
  id: 'showCampaign',
  method: 'GET',
  path: 'outreach/campaigns/:id',
  summary: 'Show a campaign and its progress',
  permission: 'campaigns:read',
  params: campaignParams,
  response: ref(Campaign, 'The campaign.'),
  errors: ['not_found'],
});

export const createCampaign = operation({
  id: 'createCampaign',
  method: 'POST',
  path: 'outreach/campaigns',
  summary: 'Create a draft',
  permission: 'campaigns:change',
  body: ref(CampaignCreate),
  maxBodyBytes: MAX_TEXTS_BYTES,
  response: ref(Campaign, 'The draft.'),
});

export const updateCampaign = operation({
  id: 'updateCampaign',
  method: 'POST',
  path: 'outreach/campaigns/:id/update',
  summary: 'Replace the content of a draft',
  permission: 'campaigns:change',
  params: campaignParams,
  body: ref(CampaignUpdate),
  maxBodyBytes: MAX_TEXTS_BYTES,
  response: ref(Campaign, 'The draft now.'),
  errors: ['not_found', 'not_possible', 'conflict'],
});

export const duplicateCampaign = operation({
  id: 'duplicateCampaign',
  method: 'POST',
  path: 'outreach/campaigns/:id/duplicate',
  summary: 'Copy a campaign to a new draft',
  permission: 'campaigns:change',
  params: campaignParams,
  response: ref(Campaign, 'The new draft.'),
  errors: ['not_found'],
});

export const deleteCampaign = operation({
  id: 'deleteCampaign',
  method: 'POST',
  path: 'outreach/campaigns/:id/delete',
  summary: 'Delete a draft',
  permission: 'campaigns:change',
  params: campaignParams,
  response: ref(Done, 'The draft was deleted.'),
  errors: ['not_found', 'not_possible'],
});

export const sendCampaign = operation({
  id: 'sendCampaign',
  method: 'POST',
  path: 'outreach/campaigns/:id/send',
  summary: 'Send a draft',
  description:
    'Stores the recipients and answers; the service then sends, also after a restart, and nobody gets the mail twice. A `conflict` has the draft as `current`, and `recipients` if their number grew.',
  permission: 'campaigns:send',
  params: campaignParams,
  body: ref(CampaignSend),
  maxBodyBytes: MAX_LIST_BYTES,
  response: ref(Campaign, 'The campaign is being sent.'),
  errors: ['not_found', 'not_possible', 'conflict'],
});

export const pauseCampaign = operation({
  id: 'pauseCampaign',
  method: 'POST',
  path: 'outreach/campaigns/:id/pause',
  summary: 'Pause a campaign',
  description: 'The messages in progress are still sent.',
  permission: 'campaigns:change',
  params: campaignParams,
  response: ref(Campaign, 'The campaign is paused.'),
  errors: ['not_found', 'not_possible'],
});

export const resumeCampaign = operation({
  id: 'resumeCampaign',
  method: 'POST',
  path: 'outreach/campaigns/:id/resume',
  summary: 'Resume a paused campaign',
  description: 'A campaign that waits for the relay is tried again at once.',
  permission: 'campaigns:send',
  params: campaignParams,
  response: ref(Campaign, 'The campaign is being sent.'),
  errors: ['not_found', 'not_possible'],
});

export const cancelCampaign = operation({
  id: 'cancelCampaign',
  method: 'POST',
  path: 'outreach/campaigns/:id/cancel',
  summary: 'Cancel a campaign',
  description: 'The messages that were not started are never sent.',
  permission: 'campaigns:change',
  params: campaignParams,
  body: ref(CampaignCancel),
  response: ref(Campaign, 'The campaign ended.'),
  errors: ['not_found', 'not_possible'],
});
