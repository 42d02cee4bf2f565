import { v7 as createUuid } from 'uuid';

import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { conflict, noSuch, notPossible } from '#server/errors.ts';

import { insertAuditEntry } from '../../audit/queries.ts';
import {
  deleteCampaign,
  findCampaign,
  insertCampaign,
  lockCampaign,
  updateCampaign,
  type CampaignContent,
  type CampaignRecord,
} from '../queries/campaigns.ts';
import { toCampaign } from './campaign-views.ts';
import type { OutreachDependencies } from '../dependencies.ts';

/** Creates a draft. */
export async function createDraft(
  { clock, pool }: OutreachDependencies,
  content: CampaignContent,
  actor: string,
): Promise<CampaignRecord> {
  const id = createUuid();
  const now = clock.now();
  return inTransaction(pool, async (db) => {
    await insertCampaign(db, id, content, { actor, now });
    const created = await requireCampaign(db, id);
    const entry = { action: 'outreach.create_draft', subjectId: id, reason: null, details: {} };
    await insertAuditEntry(db, { ...entry, occurredAt: now, actor });
    return created;
  });
}

/**
 * Replaces the content of a draft.
 * @throws conflict (409) when it changed since `version`; notPossible (409) after it was sent
 */
export async function updateDraft(
  { clock, pool }: OutreachDependencies,
  id: string,
  content: CampaignContent,
  expected: { readonly version: number; readonly actor: string },
): Promise<CampaignRecord> {
  const { actor } = expected;
  const now = clock.now();
  return inTransaction(pool, async (db) => {
    await requireDraft(db, id, expected.version);
    await updateCampaign(db, id, content, { actor, now });
    const updated = await requireCampaign(db, id);
    const entry = { action: 'outreach.update_draft', subjectId: id, reason: null, details: {} };
    await insertAuditEntry(db, { ...entry, occurredAt: now, actor });
    return updated;
  });
}

/** Copies the content of a campaign, sent or not, to a new draft. */
export async function duplicateCampaign(
  deps: OutreachDependencies,
  id: string,
  actor: string,
): Promise<CampaignRecord> {
  const { name, texts, defaultLanguage, audience } = await requireCampaign(deps.pool, id);
  return createDraft(deps, { name, texts, defaultLanguage, audience }, actor);
}

/** Deletes a draft. @throws notPossible (409) after it was sent */
export async function deleteDraft(
  { clock, pool }: OutreachDependencies,
  id: string,
  actor: string,
): Promise<void> {
  await inTransaction(pool, async (db) => {
    await requireDraft(db, id, null);
    await deleteCampaign(db, id);
    const entry = { action: 'outreach.delete_draft', subjectId: id, reason: null, details: {} };
    await insertAuditEntry(db, { ...entry, occurredAt: clock.now(), actor });
  });
}

/** Returns a campaign. @throws notFound (404) */
export function showCampaign(
  { pool }: Pick<OutreachDependencies, 'pool'>,
  id: string,
): Promise<CampaignRecord> {
  return requireCampaign(pool, id);
}

/** @throws notFound (404) */
export async function requireCampaign(db: Queryable, id: string): Promise<CampaignRecord> {
  const campaign = await findCampaign(db, id);
  if (campaign === null) throw noSuchCampaign();
  return campaign;
}

/**
 * Locks a draft.
 * @param version the expected one; null: any
 * @throws notFound (404), conflict (409), notPossible (409) after it was sent
 */
export async function requireDraft(
  db: Queryable,
  id: string,
  version: number | null,
): Promise<CampaignRecord> {
  const campaign = await lockCampaign(db, id);
  if (campaign === null) throw noSuchCampaign();
  if (campaign.state !== 'draft') throw notPossible('The campaign was sent; duplicate it instead.');
  if (version !== null && campaign.version !== version) throw conflict(toCampaign(campaign));
  return campaign;
}

export function noSuchCampaign() {
  return noSuch('There is no campaign with this id.');
}
