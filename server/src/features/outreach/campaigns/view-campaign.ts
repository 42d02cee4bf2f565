import {
  LANGUAGES,
  type CampaignPreview,
  type CampaignPreviewRequest,
  type CampaignReport,
  type CampaignStart,
} from '@latchkey/contract';

import { MESSAGES_KEPT_MS } from '../outreach-cleanup.ts';
import { countCampaignMessages } from '../queries/recipients.ts';
import { exampleRecipient } from '../templates/template.ts';
import { readCampaignFacts } from './campaign-facts.ts';
import type { OutreachDependencies } from '../dependencies.ts';
import { requireCampaign } from './edit-campaign.ts';
import { PLACEHOLDERS } from './placeholders.ts';
import { findTextProblems, renderCampaign } from './render-campaign.ts';
import { writeTemplateTexts } from './template-texts.ts';

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
