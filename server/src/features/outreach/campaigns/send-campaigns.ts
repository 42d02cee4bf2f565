import { setTimeout as sleep } from 'node:timers/promises';

import { v7 as createUuid } from 'uuid';

import type { WorkQueue } from '#server/jobs/work-queue.ts';
import type { MailTransport } from '#server/mail/mail-transport.ts';

import {
  claimCampaign,
  findCampaign,
  pauseAfterFailure,
  recountCampaign,
  releaseCampaign,
  renewCampaignLease,
  setCampaignState,
  type CampaignRecord,
  type CampaignRelease,
  type ClaimedCampaign,
} from '../queries/campaigns.ts';
import {
  cancelMessages,
  endInterruptedMessages,
  findNextRetry,
  listDueMessages,
} from '../queries/recipients.ts';
import type { OutreachDependencies } from '../dependencies.ts';
import { sendSlice } from './send-slice.ts';

const LEASE_MS = 60_000;

/** Small enough that a pause takes effect within seconds. */
const SLICE_MESSAGES = 50;

/** After a failure of the relay; doubled up to a quarter of an hour. */
const FIRST_RETRY_MS = 30_000;
const MAX_RETRY_MS = 15 * 60_000;

/** A relay that fails for this long pauses the campaign. */
const MAX_FAILURE_MS = 60 * 60_000;

const GONE_ON: CampaignRelease = { problem: null, problemSince: null, nextAttemptAt: null };

/** Creates the queue of campaigns that are being sent; each process sends one at a time. */
export function createCampaignQueue(deps: OutreachDependencies): WorkQueue<ClaimedCampaign> {
  const { clock, log, outreachMail, pool } = deps;
  return {
    name: 'outreach_campaigns',
    event: 'outreach.claim',
    action: 'claim outreach campaigns',
    async claim(inProgress) {
      if (outreachMail === null || inProgress.size > 0) return [];
      const now = clock.now();
      const until = new Date(now.getTime() + LEASE_MS);
      const claimed = await claimCampaign(pool, createUuid(), now, until);
      return claimed === null ? [] : [claimed];
    },
    async process(claimed, signal) {
      if (outreachMail === null) return;
      try {
        await sendCampaign(deps, claimed, outreachMail, signal);
      } catch (error) {
        const fields = {
          event: 'outreach.campaign_interrupted',
          campaignId: claimed.id,
          err: error,
        };
        log.error(fields, 'could not send outreach campaign; retrying when its lease expires');
      }
    },
  };
}

/** Sends a claimed campaign until it has no more messages, is paused, fails, or the process stops. */
async function sendCampaign(
  deps: OutreachDependencies,
  claimed: ClaimedCampaign,
  transport: MailTransport,
  signal: AbortSignal,
): Promise<void> {
  const { clock, pool } = deps;
  const campaign = await findCampaign(pool, claimed.id);
  if (campaign === null) return;
  await endInterruptedMessages(pool, claimed.id, clock.now());
  await recountCampaign(pool, claimed.id);
  const renewal = renewLeaseUntil(deps, claimed);
  try {
    const release = await sendSlices(deps, campaign, claimed, transport, signal);
    await releaseCampaign(pool, claimed, release);
  } finally {
    renewal.abort();
  }
}

/** Renews the lease beside the sending, since a slice may take longer than the lease. */
function renewLeaseUntil(
  { clock, log, pool }: OutreachDependencies,
  claimed: ClaimedCampaign,
): AbortController {
  const done = new AbortController();
  const renew = async (): Promise<void> => {
    while (!done.signal.aborted) {
      await sleep(LEASE_MS / 4, undefined, { signal: done.signal });
      await renewCampaignLease(pool, claimed, new Date(clock.now().getTime() + LEASE_MS));
    }
  };
  renew().catch((error: unknown) => {
    if (done.signal.aborted) return;
    const fields = { event: 'outreach.lease_renewal_failed', campaignId: claimed.id, err: error };
    log.warn(fields, 'could not renew lease of outreach campaign');
  });
  return done;
}

async function sendSlices(
  deps: OutreachDependencies,
  campaign: CampaignRecord,
  claimed: ClaimedCampaign,
  transport: MailTransport,
  signal: AbortSignal,
): Promise<CampaignRelease> {
  const { clock, pool } = deps;
  let { problemSince } = campaign;
  while (!signal.aborted) {
    const until = new Date(clock.now().getTime() + LEASE_MS);
    const state = await renewCampaignLease(pool, claimed, until);
    if (state === 'canceled') await cancelRest(deps, claimed.id);
    if (state !== 'sending') return GONE_ON;
    const due = await listDueMessages(pool, claimed.id, clock.now(), SLICE_MESSAGES);
    if (due.length === 0) return endCampaign(deps, campaign);
    const { problem } = await sendSlice(deps, campaign, due, transport, signal);
    if (problem !== null) return waitForRelay(deps, campaign, problem, problemSince);
    problemSince = null;
  }
  return GONE_ON;
}

/** Ends also the messages that returned to the queue after the campaign was canceled. */
async function cancelRest({ clock, pool }: OutreachDependencies, id: string): Promise<void> {
  await cancelMessages(pool, id, clock.now());
  await recountCampaign(pool, id);
}

/** Ends a campaign without due messages, or waits for those that the relay deferred. */
async function endCampaign(
  { clock, log, pool }: OutreachDependencies,
  { id }: CampaignRecord,
): Promise<CampaignRelease> {
  const waiting = await recountCampaign(pool, id);
  if (waiting > 0) return { ...GONE_ON, nextAttemptAt: await findNextRetry(pool, id) };
  await setCampaignState(pool, id, 'sent', clock.now());
  log.info({ event: 'outreach.campaign_sent', campaignId: id }, 'sent outreach campaign');
  return GONE_ON;
}

/** Tries again later and later, and pauses the campaign after an hour of failures. */
async function waitForRelay(
  { clock, log, pool }: OutreachDependencies,
  { id }: CampaignRecord,
  problem: string,
  since: Date | null,
): Promise<CampaignRelease> {
  const now = clock.now();
  const problemSince = since ?? now;
  const failingMs = now.getTime() - problemSince.getTime();
  const fields = { event: 'outreach.relay_failed', campaignId: id, problem };
  log.warn(fields, 'could not send outreach campaign: the mail relay failed');
  if (failingMs >= MAX_FAILURE_MS) {
    await pauseAfterFailure(pool, id);
    return { problem, problemSince, nextAttemptAt: null };
  }
  const pauseMs = Math.min(MAX_RETRY_MS, Math.max(FIRST_RETRY_MS, failingMs));
  return { problem, problemSince, nextAttemptAt: new Date(now.getTime() + pauseMs) };
}
