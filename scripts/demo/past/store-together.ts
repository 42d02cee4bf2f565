/**
 * Stores many trials, purchases and machines in a few transactions, as the service does when many calls arrive at once; each row
 * gets its own time afterwards. It is for the time before the first endpoint, when no outgoing webhook names a time.
 */
import { v7 as makeUuid } from 'uuid';

import { inTransaction } from '#server/db/transaction.ts';
import {
  insertActivations,
  type ActivationChange,
} from '#server/features/licenses/queries/activations.ts';
import { listLicensesByIds } from '#server/features/licenses/queries/licenses.ts';
import { decideActivation } from '#server/features/licenses/rules/decide-activation.ts';
import { TRIAL_DAYS } from '#server/features/trials/trial.ts';

import { SHOPS } from '../payments/shops.ts';
import { runAt } from '../time.ts';
import type { PlannedSale, PlannedTrial } from '../world/plan.ts';
import { beginTrial, findSoldLicenses } from './licenses.ts';
import { readMachineOf, type LicensedUse } from './machines.ts';
import { applyTogether, DELAY_MS } from './payments.ts';
import type { World } from './world.ts';

/** Starts trials. Each machine is new, so each gets a trial. */
export async function beginTrials(world: World, trials: readonly PlannedTrial[]): Promise<void> {
  const [first] = trials;
  if (first === undefined) return;
  await runAt(first.atMs, () => Promise.all(trials.map((trial) => beginTrial(world, trial))));
  await world.context.pool.query(DATE_TRIALS, [
    trials.map(({ use }) => world.trialActivations.get(use)),
    trials.map(({ atMs }) => new Date(atMs)),
    TRIAL_DAYS,
  ]);
}

const DATE_TRIALS = `
  with started as (
    update activations set activated_at = at, last_validated_at = at, versions_reported_at = at
    from unnest($1::uuid[], $2::timestamptz[]) as trial (activation_id, at)
    where activations.id = activation_id
    returning license_id, at
  ), claims as (
    update trial_claims set claimed_at = at from started where trial_claims.license_id = started.license_id
  )
  update licenses set created_at = at, expires_at = at + make_interval(days => $3)
  from started where licenses.id = started.license_id`;

/** Applies the events of purchases, and finds the licenses that they created. */
export async function applyPurchases(world: World, sales: readonly PlannedSale[]): Promise<void> {
  await applyTogether(
    world,
    sales.flatMap(({ sale }) => SHOPS[sale.provider].purchase(sale)),
  );
  await findSoldLicenses(world, sales);
  const created = sales.flatMap((planned) =>
    (world.licenses.get(planned) ?? []).map(({ id }) => ({ id, at: planned.sale.at.getTime() })),
  );
  await world.context.pool.query(DATE_LICENSES, [
    created.map(({ id }) => id),
    created.map(({ at }) => new Date(at + DELAY_MS)),
  ]);
}

const DATE_LICENSES = `
  update licenses set created_at = at, reveal_until = at + (reveal_until - created_at)
  from unnest($1::uuid[], $2::timestamptz[]) as sold (id, at) where licenses.id = sold.id`;

/** Activates machines that their licenses allow. Each machine is new to its license. */
export async function activateMachines(world: World, uses: readonly LicensedUse[]): Promise<void> {
  const { context, licenses } = world;
  const ids = uses.flatMap(({ planned }) => licenses.get(planned)?.[0]?.id ?? []);
  const stored = await listLicensesByIds(context.pool, [...new Set(ids)]);
  const byId = new Map(stored.map((license) => [license.id, license]));
  const allowed: { readonly change: ActivationChange; readonly at: Date }[] = [];
  for (const { planned, use } of uses.toSorted((one, other) => one.use.fromMs - other.use.fromMs)) {
    const license = byId.get(licenses.get(planned)?.[0]?.id ?? '');
    if (license === undefined) continue;
    const at = new Date(use.fromMs);
    const machine = readMachineOf(context, use, world.nowMs);
    const active = countActive(world, { planned, use });
    if (decideActivation(license, active, [], machine.identity, at).kind !== 'new') continue;
    const id = await runAt(use.fromMs, async () => makeUuid());
    const { installId } = use.machine;
    const change = { ...machine, licenseId: license.id, id, installId, entitlementProof: null };
    allowed.push({ change, at });
    world.activations.set(use, { licenseId: license.id, id });
  }
  await insertAt(world, allowed);
}

/** Counts the machines of a license that are active when another one is activated. */
function countActive({ activations }: World, { planned, use }: LicensedUse): number {
  return planned.uses.filter(
    (other) => activations.has(other) && !(other.isFreed && other.untilMs <= use.fromMs),
  ).length;
}

async function insertAt(
  { context: { pool } }: World,
  rows: readonly { readonly change: ActivationChange; readonly at: Date }[],
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  await inTransaction(pool, async (client) => {
    const changes = rows.map(({ change }) => change);
    await insertActivations(client, changes, first.at);
    const ids = changes.map(({ id }) => id);
    await client.query(DATE_ACTIVATIONS, [ids, rows.map(({ at }) => at)]);
  });
}

const DATE_ACTIVATIONS = `
  update activations set activated_at = at, last_validated_at = at, versions_reported_at = at
  from unnest($1::uuid[], $2::timestamptz[]) as started (id, at) where activations.id = started.id`;
