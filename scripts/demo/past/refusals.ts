/** Requests that were refused: of machines whose license has ended, and of one machine too many. */
import { writeLicenseActivity } from '#server/features/licenses/activity.ts';
import {
  listLicenseIdsAfter,
  refreshLicenseActivity,
} from '#server/features/licenses/queries/license-activity.ts';
import {
  addRefusals,
  type RefusalRow,
} from '#server/features/licenses/queries/license-refusals.ts';

import type { Random } from '../random.ts';
import { DAY_MS } from '../time.ts';
import type { PlannedSale } from '../world/plan.ts';
import type { World } from './world.ts';

/** How long refusals are stored. */
const KEPT_DAYS = 88;

const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** Counts refusals of the last weeks, and rolls up the machines of all licenses. */
export async function fillRefusals(world: World): Promise<void> {
  const { context, plans } = world;
  const rows = [
    ...plans.sales.flatMap((planned) => listRefusals(world, planned)),
    ...(await listTrialRefusals(world)),
  ];
  const { pool } = context;
  const since = world.nowMs - KEPT_DAYS * DAY_MS;
  await addRefusals(
    pool,
    rows.filter(({ lastAt }) => lastAt.getTime() > since),
  );
  await writeLicenseActivity(context);
  for (let after = NIL_UUID; ;) {
    const ids = await listLicenseIdsAfter(pool, after, 2_000);
    const last = ids.at(-1);
    if (last === undefined) return;
    await refreshLicenseActivity(pool, ids);
    after = last;
  }
}

function listRefusals({ licenses, nowMs, random }: World, planned: PlannedSale): RefusalRow[] {
  const license = licenses.get(planned)?.[0];
  if (license === undefined || planned.uses.length === 0) return [];
  const own = random.fork(`refusals ${planned.sale.token}`);
  const end = findEnd(planned);
  if (end !== null) return repeat(own, license.id, end, Math.min(nowMs, end.atMs + 14 * DAY_MS));
  if (!own.chance(0.06)) return [];
  const reason = own.chance(0.85) ? 'activation_limit_reached' : 'move_limit_reached';
  const atMs = nowMs - own.next() ** 2 * 60 * DAY_MS;
  return repeat(own, license.id, { atMs, reason }, Math.min(nowMs, atMs + 2 * DAY_MS));
}

function findEnd({ changes, moneyBack }: PlannedSale) {
  if (moneyBack?.kind === 'refund') {
    return { atMs: moneyBack.at.getTime(), reason: 'license_refunded' };
  }
  if (moneyBack?.kind === 'dispute') {
    return { atMs: moneyBack.at.getTime(), reason: 'license_suspended' };
  }
  const last = changes.findLast(({ kind }) => kind === 'canceled' || kind === 'paused');
  return last === undefined ? null : { atMs: last.at.getTime(), reason: `license_${last.kind}` };
}

/** Programs ask again each day, until their user gives up. */
function repeat(
  random: Random,
  licenseId: string,
  { atMs, reason }: { readonly atMs: number; readonly reason: string },
  untilMs: number,
): RefusalRow[] {
  const rows: RefusalRow[] = [];
  for (let timeMs = atMs + random.next() * DAY_MS; timeMs < untilMs; timeMs += DAY_MS) {
    if (random.chance(0.15)) break;
    const lastAt = new Date(timeMs);
    const day = lastAt.toISOString().slice(0, 10);
    rows.push({ licenseId, day, reason, refusals: random.integer(1, 5), lastAt });
  }
  return rows;
}

interface TrialRow {
  readonly id: string;
  readonly expires_at: Date;
}

async function listTrialRefusals({ context, nowMs, random }: World): Promise<RefusalRow[]> {
  const { rows } = await context.pool.query<TrialRow>(
    'select id, expires_at from licenses where trial and expires_at < $1 order by created_at, id',
    [new Date(nowMs)],
  );
  return rows.flatMap(({ id, expires_at: expiresAt }, number) => {
    const own = random.fork(`ended trial ${number}`);
    if (!own.chance(0.3)) return [];
    const atMs = expiresAt.getTime();
    const untilMs = Math.min(nowMs, atMs + 5 * DAY_MS);
    return repeat(own, id, { atMs, reason: 'trial_expired' }, untilMs);
  });
}
