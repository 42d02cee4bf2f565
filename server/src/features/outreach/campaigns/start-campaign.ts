import { v7 as createUuid } from 'uuid';

import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { conflict, notPossible } from '#server/errors.ts';
import { formatMessageId, parseMailbox } from '#server/mail/mailbox.ts';

import { insertAuditEntry } from '../../audit/queries.ts';
import { startCampaignRow, type CampaignRecord, type StartCounts } from '../queries/campaigns.ts';
import { insertRecipients, type NewRecipient } from '../queries/recipients.ts';
import { readCampaignFacts } from './campaign-facts.ts';
import { toCampaign } from './campaign-views.ts';
import type { OutreachDependencies } from '../dependencies.ts';
import { requireCampaign, requireDraft } from './edit-campaign.ts';
import { findProblems } from './render-campaign.ts';
import { selectRecipients } from './select-recipients.ts';

/** An operator's request to send a draft. */
export interface CampaignStartRequest {
  readonly version: number;
  /** The number of recipients that the operator saw. */
  readonly maxRecipients: number;
  /** The addresses of the source `list`. */
  readonly list: string | null;
  readonly actor: string;
}

export const NO_MAIL =
  'No mail relay is configured: set LATCHKEY_SMTP_URL and LATCHKEY_MAIL_FROM, then restart.';

/**
 * Stores the recipients of a draft with their messages; from then on the background sends them. Each address gets one
 * message, however often this is called.
 * @throws conflict (409) when the draft, or the number of its recipients, changed; notPossible (409)
 */
export async function startCampaign(
  deps: OutreachDependencies,
  id: string,
  request: CampaignStartRequest,
): Promise<CampaignRecord> {
  const { clock, outreachMail, pool } = deps;
  if (outreachMail === null) throw notPossible(NO_MAIL);
  const { actor } = request;
  const now = clock.now();
  return inTransaction(pool, async (db) => {
    const draft = await requireDraft(db, id, request.version);
    requireText(deps, draft);
    const counts = await storeRecipients(deps, db, draft, request, now);
    requireRecipients(draft, counts, request);
    await startCampaignRow(db, id, counts, { actor, now });
    const started = await requireCampaign(db, id);
    const { total, suppressed, duplicates, invalid } = counts;
    const details = { source: draft.audience.source, total, suppressed, duplicates, invalid };
    const entry = { action: 'outreach.send', subjectId: id, reason: null, details };
    await insertAuditEntry(db, { ...entry, occurredAt: now, actor });
    return started;
  });
}

function requireText(deps: OutreachDependencies, { texts, defaultLanguage }: CampaignRecord): void {
  const readFacts = (language: typeof defaultLanguage) => ({
    ...readCampaignFacts(deps, language),
    name: null,
  });
  const [problem] = findProblems(texts, defaultLanguage, readFacts);
  if (problem === undefined) return;
  const place = problem.line === null ? problem.field : `${problem.field}, line ${problem.line}`;
  throw notPossible(`The text is not ready (${problem.language}, ${place}): ${problem.message}`);
}

function requireRecipients(
  draft: CampaignRecord,
  { total, suppressed }: StartCounts,
  { maxRecipients }: CampaignStartRequest,
): void {
  const recipients = total - suppressed;
  if (recipients === 0) throw notPossible('The mail has no recipient.');
  if (recipients > maxRecipients) throw conflict({ ...toCampaign(draft), recipients });
}

const BATCH_ROWS = 1_000;

async function storeRecipients(
  deps: OutreachDependencies,
  db: Queryable,
  { id, name, audience, texts, defaultLanguage }: CampaignRecord,
  { list }: CampaignStartRequest,
  now: Date,
): Promise<StartCounts> {
  const { address } = parseMailbox(deps.config.mail.from ?? '');
  const counts = { total: 0, suppressed: 0, duplicates: 0, invalid: 0 };
  let batch: NewRecipient[] = [];
  const flush = async (): Promise<void> => {
    await insertRecipients(db, { id, name, now }, batch);
    batch = [];
  };
  const selection = { audience, list, texts, defaultLanguage };
  for await (const { excluded, ...recipient } of selectRecipients(db, deps, selection)) {
    if (excluded === 'duplicate') counts.duplicates += 1;
    else if (excluded === 'invalid') counts.invalid += 1;
    else {
      const messageId = formatMessageId(`outreach-${createUuid()}`, address);
      batch.push({ ...recipient, position: counts.total, messageId, error: excluded });
      counts.total += 1;
      if (excluded === 'suppressed') counts.suppressed += 1;
      if (batch.length === BATCH_ROWS) await flush();
    }
  }
  if (batch.length > 0) await flush();
  return counts;
}
