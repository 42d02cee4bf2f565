import {
  LANGUAGES,
  parseEmail,
  type CampaignPreview,
  type CampaignPreviewRequest,
  type CampaignReport,
  type CampaignStart,
} from '@latchkey/contract';

import type { ListOrder, Page, PageRequest } from '#server/db/list.ts';

import { recordAccess } from '../../audit/record-access.ts';
import { hashAddressUnderAll } from '../../suppressions/address-hash.ts';
import { MESSAGES_KEPT_MS } from '../outreach-cleanup.ts';
import {
  listAllCampaigns,
  listCampaigns,
  type CampaignFilter,
  type CampaignRecord,
} from '../queries/campaigns.ts';
import {
  countCampaignMessages,
  listAllCampaignMessages,
  listCampaignMessages,
  type CampaignMessageRecord,
  type MessageFilter,
} from '../queries/recipients.ts';
import { exampleRecipient } from '../templates/template.ts';
import { readCampaignFacts } from './campaign-facts.ts';
import type { OutreachDependencies } from '../dependencies.ts';
import { requireCampaign } from './edit-campaign.ts';
import { PLACEHOLDERS } from './placeholders.ts';
import { findTextProblems, renderCampaign } from './render-campaign.ts';
import { writeTemplateTexts } from './template-texts.ts';

/** Reads a page of campaigns, newest first. */
export function readCampaignPage(
  { pool }: Pick<OutreachDependencies, 'pool'>,
  filter: CampaignFilter,
  request: PageRequest,
): Promise<Page<CampaignRecord>> {
  return listCampaigns(pool, filter, request);
}

/** Reads all campaigns of a filter, after an audit entry. */
export async function exportCampaigns(
  deps: Pick<OutreachDependencies, 'clock' | 'databaseLimiter' | 'pool'>,
  filter: CampaignFilter,
  order: ListOrder,
  actor: string,
): Promise<AsyncGenerator<CampaignRecord>> {
  const details = { format: 'csv', state: filter.state };
  const entry = { action: 'outreach.export', subjectId: 'campaigns', actor, reason: null, details };
  await recordAccess(deps, entry);
  return listAllCampaigns(deps, filter, order);
}

/** Returns what a new campaign can start from: texts of the templates, placeholders, products. */
export function readCampaignStart(deps: OutreachDependencies): CampaignStart {
  const { catalog, config } = deps;
  const { outreach, products } = catalog();
  const facts = { ...readCampaignFacts(deps, 'en'), name: null };
  const placeholders = Object.entries(PLACEHOLDERS).map(([name, { description, read }]) => ({
    placeholder: `{{${name}}}`,
    description,
    value: read(facts),
  }));
  const name = { placeholder: '{{name|friend}}', description: 'The recipient', value: 'Ada' };
  return {
    templates: writeTemplateTexts(outreach),
    placeholders: [name, ...placeholders],
    products: [...products.values()].map(({ id, name: productName }) => ({
      id,
      name: productName,
    })),
    sender: config.mail.from,
  };
}

/** Renders a text that an operator writes, with what prevents sending it. */
export function previewCampaign(
  deps: OutreachDependencies,
  { text, language, source, name }: CampaignPreviewRequest,
): CampaignPreview {
  const unsubscribeUrl = `${deps.config.http.publicUrl}${exampleRecipient.unsubscribePath}`;
  const facts = { ...readCampaignFacts(deps, language), name, unsubscribeUrl };
  const problems = findTextProblems(text, language, facts);
  return { ...renderCampaign(text, language, source, facts), problems };
}

/** Counts the outcomes of a campaign; without messages, which are kept for 30 days, nothing but the time. */
export async function reportCampaign(
  { pool }: Pick<OutreachDependencies, 'pool'>,
  id: string,
): Promise<CampaignReport> {
  const { startedAt } = await requireCampaign(pool, id);
  const rows = await countCampaignMessages(pool, id);
  const sentIn = (language: string): number =>
    rows
      .filter((row) => row.language === language && row.state === 'sent')
      .reduce((sum, { count }) => sum + count, 0);
  const keptUntil = startedAt && new Date(startedAt.getTime() + MESSAGES_KEPT_MS);
  return {
    unsubscribed: rows.reduce((sum, { unsubscribed }) => sum + unsubscribed, 0),
    by_language: LANGUAGES.map((language) => ({ language, sent: sentIn(language) })),
    reasons: countReasons(rows),
    kept_until: keptUntil?.toISOString() ?? null,
  };
}

type ReportRow = Awaited<ReturnType<typeof countCampaignMessages>>[number];

function countReasons(rows: readonly ReportRow[]): CampaignReport['reasons'] {
  const counts = new Map<string, CampaignReport['reasons'][number]>();
  for (const { state, error, count } of rows) {
    if (state !== 'failed' && state !== 'unknown') continue;
    if (error === 'suppressed' || error === 'canceled') continue;
    const known = counts.get(`${state} ${error}`)?.count ?? 0;
    counts.set(`${state} ${error}`, { state, error: error ?? state, count: known + count });
  }
  return [...counts.values()].toSorted((a, b) => b.count - a.count);
}

/** A filter of messages as an operator enters it. */
export interface MessageQuery extends Omit<MessageFilter, 'search'> {
  readonly search: string | null;
}

/** Reads a page of the messages of a campaign, in the order in which they are sent. */
export async function readMessagePage(
  deps: Pick<OutreachDependencies, 'pool' | 'vault'>,
  query: MessageQuery,
  request: PageRequest,
): Promise<Page<CampaignMessageRecord>> {
  await requireCampaign(deps.pool, query.campaignId);
  return listCampaignMessages(deps.pool, toFilter(deps, query), request);
}

/** Records the export in the audit log, and returns the messages of a campaign. */
export async function exportMessages(
  deps: Pick<OutreachDependencies, 'clock' | 'databaseLimiter' | 'pool' | 'vault'>,
  query: MessageQuery,
  order: ListOrder,
  actor: string,
): Promise<AsyncGenerator<CampaignMessageRecord>> {
  const { id } = await requireCampaign(deps.pool, query.campaignId);
  const details = { format: 'csv', result: query.result };
  await recordAccess(deps, {
    action: 'outreach.export',
    subjectId: id,
    actor,
    reason: null,
    details,
  });
  return listAllCampaignMessages(deps, toFilter(deps, query), order);
}

function toFilter(
  { vault }: Pick<OutreachDependencies, 'vault'>,
  query: MessageQuery,
): MessageFilter {
  const text = query.search?.trim() ?? '';
  if (text === '') return { ...query, search: null };
  return { ...query, search: 'email' in parseEmail(text) ? hashAddressUnderAll(vault, text) : [] };
}
