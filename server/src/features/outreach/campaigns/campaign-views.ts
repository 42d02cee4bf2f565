import {
  LANGUAGES,
  type Campaign,
  type CampaignCreate,
  type CampaignTexts,
  type CampaignSummary,
} from '@latchkey/contract';

import type { CampaignContent, CampaignRecord } from '../queries/campaigns.ts';

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
