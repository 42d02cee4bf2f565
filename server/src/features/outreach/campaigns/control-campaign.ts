import { inTransaction } from '#server/db/transaction.ts';
import { notPossible } from '#server/errors.ts';

import { insertAuditEntry } from '../../audit/queries.ts';
import {
  lockCampaign,
  recountCampaign,
  setCampaignState,
  type CampaignRecord,
} from '../queries/campaigns.ts';
import { cancelMessages } from '../queries/recipients.ts';
import type { OutreachDependencies } from '../dependencies.ts';
import { noSuchCampaign, requireCampaign } from './edit-campaign.ts';

type ControlDependencies = Pick<OutreachDependencies, 'clock' | 'pool'>;

/** Who controls a campaign, and why. */
export interface CampaignControl {
  readonly actor: string;
  readonly reason: string | null;
}

/** Pauses a campaign: messages in progress are sent, and no more. @throws notPossible (409) when it is not being sent */
export function pauseCampaign(
  deps: ControlDependencies,
  id: string,
  control: CampaignControl,
): Promise<CampaignRecord> {
  return changeState(deps, id, control, { from: ['sending'], to: 'paused', verb: 'pause' });
}

/** Resumes a paused campaign, and retries at once one that waits for the relay. @throws notPossible (409) */
export function resumeCampaign(
  deps: ControlDependencies,
  id: string,
  control: CampaignControl,
): Promise<CampaignRecord> {
  const from = ['paused', 'sending'] as const;
  return changeState(deps, id, control, { from, to: 'sending', verb: 'resume' });
}

/** Ends a campaign: the messages that were not started are never sent. @throws notPossible (409) when it ended before */
export function cancelCampaign(
  deps: ControlDependencies,
  id: string,
  control: CampaignControl,
): Promise<CampaignRecord> {
  const from = ['paused', 'sending'] as const;
  return changeState(deps, id, control, { from, to: 'canceled', verb: 'cancel' });
}

interface StateChange {
  readonly from: readonly CampaignRecord['state'][];
  readonly to: 'paused' | 'sending' | 'canceled';
  readonly verb: 'pause' | 'resume' | 'cancel';
}

const STATES: Readonly<Record<CampaignRecord['state'], string>> = {
  draft: 'a draft',
  sending: 'being sent',
  paused: 'paused',
  sent: 'sent',
  canceled: 'canceled',
};

function changeState(
  { clock, pool }: ControlDependencies,
  id: string,
  { actor, reason }: CampaignControl,
  { from, to, verb }: StateChange,
): Promise<CampaignRecord> {
  const now = clock.now();
  return inTransaction(pool, async (db) => {
    const campaign = await lockCampaign(db, id);
    if (campaign === null) throw noSuchCampaign();
    const { state } = campaign;
    if (!from.includes(state)) throw notPossible(`The campaign is ${STATES[state]}.`);
    await setCampaignState(db, id, to, to === 'canceled' ? now : null);
    if (to === 'canceled') {
      await cancelMessages(db, id, now);
      await recountCampaign(db, id);
    }
    const changed = await requireCampaign(db, id);
    const entry = { action: `outreach.${verb}`, subjectId: id, details: {} };
    await insertAuditEntry(db, { ...entry, occurredAt: now, actor, reason });
    return changed;
  });
}
