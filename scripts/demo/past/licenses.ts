import type { Context } from '#server/context.ts';
import { issueLicense } from '#server/features/licenses/issue.ts';
import { startTrial } from '#server/features/trials/start-trial.ts';

import { SHOPS } from '../payments/shops.ts';
import { DAY_MS } from '../time.ts';
import { versionAt } from '../world/machines.ts';
import type { PlannedIssue, PlannedSale, PlannedTrial } from '../world/plan.ts';
import { ADMIN } from './people.ts';
import type { Action, World } from './world.ts';

/** Starts a trial, as the software itself does. */
export async function beginTrial(
  { context, nowMs, trialActivations }: World,
  { atMs, use }: PlannedTrial,
): Promise<void> {
  const { fingerprint, installId } = use.machine;
  const { activation_id: activationId } = await startTrial(context, {
    machine_fingerprint: { ...fingerprint, app_version: versionAt(use.machine, atMs, nowMs) },
    install_id: installId,
  });
  trialActivations.set(use, activationId);
}

/** Licenses that an operator issued. */
export function listIssues(world: World): Action[] {
  return world.plans.issues.map((planned) => ({
    atMs: planned.atMs,
    run: () => issue(world, planned),
  }));
}

async function issue({ context, licenses }: World, planned: PlannedIssue): Promise<void> {
  const product = context.catalog().products.get(planned.product);
  if (product === undefined) throw new Error(`the catalogue has no ${planned.product}`);
  const { atMs, days, note, person, reason } = planned;
  const { license } = await issueLicense(
    context,
    {
      product,
      expiresAt: days === null ? null : new Date(atMs + days * DAY_MS),
      customerEmail: person.email,
      customerName: person.name,
      note,
    },
    ADMIN.actor,
    reason,
  );
  licenses.set(planned, [license]);
}

interface LicenseRow {
  readonly transaction_id: string;
  readonly id: string;
  readonly key_sealed: Buffer;
}

/** Finds the licenses that purchases created. */
export async function findSoldLicenses(
  { context, licenses }: { readonly context: Pick<Context, 'pool'> } & Pick<World, 'licenses'>,
  sales: readonly PlannedSale[],
): Promise<void> {
  const saleOf = new Map(
    sales.flatMap((planned) =>
      SHOPS[planned.sale.provider]
        .listTransactionIds(planned.sale)
        .map((transactionId) => [transactionId, planned] as const),
    ),
  );
  const { rows } = await context.pool.query<LicenseRow>(
    `select transaction_id, licenses.id, key_sealed
     from license_transactions join licenses on licenses.id = license_id
     where transaction_id = any($1) order by licenses.id`,
    [[...saleOf.keys()]],
  );
  for (const { transaction_id: transactionId, id, key_sealed: keySealed } of rows) {
    const planned = saleOf.get(transactionId);
    const known = planned === undefined ? undefined : licenses.get(planned);
    if (planned === undefined || known?.some((license) => license.id === id) === true) continue;
    licenses.set(planned, [...(known ?? []), { id, keySealed }]);
  }
}
