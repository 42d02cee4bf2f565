import {
  LANGUAGES,
  type Campaign,
  type CampaignCreate,
  type CampaignTexts,
  type CampaignMessage,
  type CampaignSummary,
} from '@latchkey/contract';

import type { CsvColumns } from '#server/lib/csv.ts';

import type { CampaignContent, CampaignRecord } from '../queries/campaigns.ts';
import type { CampaignMessageRecord } from '../queries/recipients.ts';

const isoOf = (time: Date | null): string | null => time?.toISOString() ?? null;

/** Converts a campaign to its form in a list. */
export function toCampaignSummary(record: CampaignRecord): CampaignSummary {
  const { sent, failed, suppressed, unknown, duplicates, invalid, state, total } = record;
  const rest = Math.max(0, total - sent - failed - suppressed - unknown);
  const [waiting, canceled] = state === 'canceled' ? [0, rest] : [rest, 0];
  return {
    id: record.id,
    name: record.name,
    state: record.state,
    languages: LANGUAGES.filter((language) => record.texts[language] !== undefined),
    source: record.audience.source,
    counts: { total, waiting, canceled, sent, failed, suppressed, unknown, duplicates, invalid },
    created_at: record.createdAt.toISOString(),
    updated_at: record.updatedAt.toISOString(),
    updated_by: record.updatedBy,
    started_at: isoOf(record.startedAt),
    started_by: record.startedBy,
    ended_at: isoOf(record.endedAt),
  };
}

/** The columns of an export of campaigns. */
export const CAMPAIGN_COLUMNS: CsvColumns<CampaignRecord> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  state: ({ state }) => state,
  languages: (record) => toCampaignSummary(record).languages.join(' '),
  source: ({ audience }) => audience.source,
  total: ({ total }) => total,
  waiting: (record) => toCampaignSummary(record).counts.waiting,
  canceled: (record) => toCampaignSummary(record).counts.canceled,
  sent: ({ sent }) => sent,
  failed: ({ failed }) => failed,
  suppressed: ({ suppressed }) => suppressed,
  unknown: ({ unknown }) => unknown,
  created_at: ({ createdAt }) => createdAt,
  updated_at: ({ updatedAt }) => updatedAt,
  updated_by: ({ updatedBy }) => updatedBy,
  started_at: ({ startedAt }) => startedAt,
  started_by: ({ startedBy }) => startedBy,
  ended_at: ({ endedAt }) => endedAt,
};

/** Converts a campaign to its form in the operator interface. */
export function toCampaign(record: CampaignRecord): Campaign {
  return {
    ...toCampaignSummary(record),
    version: record.version,
    texts: record.texts,
    default_language: record.defaultLanguage,
    audience: record.audience,
    problem: record.problem,
    problem_since: isoOf(record.problemSince),
    next_attempt_at: isoOf(record.nextAttemptAt),
  };
}

/** Converts what an operator writes. Texts and audience are stored as JSON, so unknown members are left out. */
export function toContent(body: CampaignCreate): CampaignContent {
  const { name, texts, default_language: defaultLanguage } = body;
  const { source, languages, products, statuses } = body.audience;
  const audience = { source, languages, products, statuses };
  return { name, texts: toTexts(texts), defaultLanguage, audience };
}

function toTexts(texts: CampaignTexts): CampaignTexts {
  const entries = LANGUAGES.flatMap((language) => {
    const written = texts[language];
    if (written === undefined) return [];
    const { subject, preview, text } = written;
    return [[language, { subject, preview, text }] as const];
  });
  return Object.fromEntries(entries);
}

/** The outcome of a message, as operators filter by it. */
function resultOf({
  state,
  error,
  unsubscribed,
}: CampaignMessageRecord): CampaignMessage['result'] {
  if (unsubscribed) return 'unsubscribed';
  const isUnsent = error === 'suppressed' || error === 'canceled';
  return state === 'failed' && isUnsent ? error : state;
}

/** Converts a message of a campaign to its form in the operator interface. */
export function toCampaignMessage(record: CampaignMessageRecord): CampaignMessage {
  const { position, email, name, language, error } = record;
  const result = resultOf(record);
  const ended = { ended_at: isoOf(record.endedAt), message_id: record.messageId };
  return { position, email, name, language, result, error, ...ended };
}

/** The columns of an export of the messages of a campaign. */
export const MESSAGE_COLUMNS = {
  email: ({ email }) => email,
  name: ({ name }) => name,
  language: ({ language }) => language,
  result: resultOf,
  error: ({ error }) => error,
  ended_at: ({ endedAt }) => endedAt,
  message_id: ({ messageId }) => messageId,
} satisfies CsvColumns<CampaignMessageRecord>;
