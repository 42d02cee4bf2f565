import type { LoadedConfiguration } from '#server/config/load.ts';
import { runRollups } from '#server/features/analytics/rollups/run-rollups.ts';
import { createEventPartitions } from '#server/features/analytics/create-event-partitions.ts';

import type { DemoOptions } from '../options.ts';
import { Random } from '../random.ts';
import { DAY_MS, runAt } from '../time.ts';
import { planLicenses } from '../world/plan.ts';
import { listCampaigns } from './campaigns.ts';
import { fillDeliveries, listEndpointChanges } from './endpoints.ts';
import { fillEvents, planEvents } from './events.ts';
import { fillDays } from './fill-days.ts';
import { listManualChanges } from './manual-changes.ts';
import {
  deferPayments,
  failJobs,
  listFailedPayments,
  listIgnoredPayments,
  removeOldBodies,
} from './odd-payments.ts';
import { openPast } from './open-past.ts';
import { listAccountActions, useApiKeys, type TotpSecret } from './operators.ts';
import { fillRefusals } from './refusals.ts';
import { listServerChanges } from './servers.ts';
import { fillSubscribers, listOutreach } from './subscribers.ts';
import { storeValidations, fillUsage, planUsedDays, USAGE_DAYS } from './usage.ts';
import type { World } from './world.ts';

export interface FilledDemo {
  /** The secret of the one-time codes of one operator. */
  readonly totpSecret: string;
}

/** Reports progress: the name of a step and its figures so far. */
export type Report = (step: string, figures: string) => void;

/** Fills the database of a demo. The same options fill it with the same people and figures; keys and ids are random. */
export async function fillPast(
  configuration: LoadedConfiguration,
  { licenses, seed }: Pick<DemoOptions, 'licenses' | 'seed'>,
  receiverUrl: string,
  report: Report,
): Promise<FilledDemo> {
  const nowMs = Date.now();
  await using context = await openPast(configuration, nowMs);
  const random = new Random(seed);
  const world: World = {
    context,
    random,
    nowMs,
    plans: planLicenses(random.fork('licenses'), licenses, nowMs),
    licenses: new Map(),
    activations: new Map(),
    trialActivations: new Map(),
    receiverUrl,
  };
  const totp: TotpSecret = { value: null };
  await fillAddresses(world, report);
  await fillDays(world, listOperatorActions(world, totp), (count) =>
    report('licenses', `${count} of ${licenses}`),
  );
  await fillAnalytics(world, report);
  await fillFailures(world);
  if (totp.value === null) throw new Error('no operator has one-time codes');
  return { totpSecret: totp.value };
}

function listOperatorActions(world: World, totp: TotpSecret) {
  return [
    ...listAccountActions(world, totp),
    ...listEndpointChanges(world),
    ...listServerChanges(world),
    ...listManualChanges(world),
    ...listIgnoredPayments(world),
    ...listFailedPayments(world),
    ...listOutreach(world),
    ...listCampaigns(world),
  ];
}

async function fillAddresses(world: World, report: Report): Promise<void> {
  const count = Math.max(160, Math.round(world.plans.sales.length / 5));
  await fillSubscribers(world, count);
  report('newsletter', `${count} subscribers`);
}

async function fillAnalytics(world: World, report: Report): Promise<void> {
  const { context, nowMs } = world;
  const days = planUsedDays(world);
  const usage = Promise.all([fillUsage(world, days), storeValidations(world, days)]);
  const events = planEvents(world, days);
  await Promise.all([usage, fillEvents(world, events)]);
  report('usage', `${days.length} machine days, ${events.length} events`);
  await fillRefusals(world);
  await createEventPartitions(context.pool, new Date(nowMs));
  await context.pool.query('analyze');
  const { signal } = new AbortController();
  // Days before yesterday become final, as after months of running.
  await runAt(nowMs, () => runRollups(context, { signal, everything: true }));
  report('reports', `${USAGE_DAYS} days`);
}

async function fillFailures(world: World): Promise<void> {
  await fillDeliveries(world);
  await deferPayments(world);
  await removeOldBodies(world);
  await failJobs(world);
  await useApiKeys(world);
  await world.context.pool.query('vacuum analyze');
  // What expired during the past was recorded day by day; this is the rest until now.
  await world.context.pool.query(`delete from operator_sign_in_links where expires_at < $1`, [
    new Date(world.nowMs - DAY_MS),
  ]);
}
