/** Feature: show operators a license with the answer why it does not work, and change it for them. */
import type { AdminLicenseDetails } from '@latchkey/contract';
import type { Logger } from 'pino';

import type { Config } from '#server/config/config.ts';
import { licenseNotFound } from '#server/errors.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';

import type { ApplyDependencies } from '../billing/dependencies.ts';
import { listLastUsesOf } from '../licenses/list-activations.ts';
import type { LicenseChangeDependencies } from '../licenses/dependencies.ts';
import { listActivationsOf } from '../licenses/queries/activations.ts';
import { listRefusals, type RefusalCount } from '../licenses/queries/license-refusals.ts';
import { countMoves } from '../licenses/queries/moves.ts';
import { readMoveAllowance } from '../licenses/rules/decide-activation.ts';
import { usableUntil } from '../licenses/rules/status.ts';
import { readTerms } from '../licenses/terms.ts';
import { startOfRefusals, viewLicense } from './list-licenses.ts';
import {
  findLicenseDetails,
  findLicensePurchase,
  type LicenseDetails,
  type LicensePurchase,
} from './queries/license-details.ts';
import type { ListedLicense } from './queries/license-list.ts';
import { diagnose } from './rules/diagnose.ts';
import { readMachineFacts, viewMachine } from './rules/machines.ts';

/** The dependencies of showing and changing a license for operators. */
export interface LicenseAdminDependencies extends LicenseChangeDependencies {
  readonly config: Pick<Config, 'billing' | 'mail'>;
  readonly databaseLimiter: ConcurrencyLimiter;
  readonly log: Logger;
  readonly stripeApi: ApplyDependencies['stripeApi'];
}

const MAX_LISTED = 1_000;

/**
 * Returns everything about a license but its key, and why it does not work.
 * @throws licenseNotFound
 */
export async function describeLicense(
  deps: LicenseChangeDependencies,
  id: string,
): Promise<AdminLicenseDetails> {
  const license = await findLicenseDetails(deps.pool, id);
  if (license === null) throw licenseNotFound();
  const now = deps.clock.now();
  const terms = await readTerms(deps.pool, deps.catalog(), license);
  const activations = await listActivationsOf(deps.pool, id, MAX_LISTED);
  const uses = await listLastUsesOf(deps, activations);
  const machines = activations.map((activation, index) =>
    viewMachine(activation, uses[index] ?? null, terms.offlineDays, usableUntil(license)),
  );
  const refusals = await listRefusals(deps.pool, id, startOfRefusals(now));
  const purchase = await findLicensePurchase(deps.pool, id);
  const moves = await readMoves(deps, license, now);
  const facts = {
    license,
    now,
    machines: readMachineFacts(
      activations,
      machines,
      license.activeMachines,
      terms.offlineDays,
      now,
    ),
    moves,
    refusals,
    keyReplacedAt: license.keyReplacedAt,
    keyEmail: readKeyEmail(purchase),
  };
  return {
    ...viewLicense(deps.catalog(), license, now, sumOf(refusals)),
    diagnosis: toView(diagnose(facts)),
    features: [...terms.features],
    in_catalogue: deps.catalog().products.has(license.productId),
    offline_days: terms.offlineDays,
    ...viewTimes(license),
    moves,
    refusals: refusals.map(viewRefusals),
    ...viewPurchase(purchase),
    machines,
  };
}

function readKeyEmail(purchase: LicensePurchase | null) {
  if (purchase === null || purchase.emailState === null) return null;
  return { state: purchase.emailState, reason: purchase.emailReason };
}

function toView({ actions, ...diagnosis }: ReturnType<typeof diagnose>) {
  return { ...diagnosis, actions: [...actions] };
}

async function readMoves(deps: LicenseChangeDependencies, license: ListedLicense, now: Date) {
  const rule = deps.catalog().products.get(license.productId)?.moves;
  const allowance = readMoveAllowance(license, rule, now);
  const { limit, days } = allowance;
  return { ...(await countMoves(deps.pool, license.id, allowance)), limit, days };
}

function sumOf(refusals: readonly RefusalCount[]): number {
  return refusals.reduce((sum, each) => sum + each.refusals, 0);
}

function viewRefusals({ reason, refusals, lastAt }: RefusalCount) {
  return { reason, refusals, last_at: lastAt.toISOString() };
}

function viewTimes(license: LicenseDetails) {
  return {
    usable_until: formatTime(usableUntil(license)),
    cancel_scheduled_for: formatTime(license.cancelScheduledFor),
    canceled_at: formatTime(license.canceledAt),
    paused_at: formatTime(license.pausedAt),
    suspended_at: formatTime(license.suspendedAt),
    disputed_at: formatTime(license.disputedAt),
    refunded_at: formatTime(license.refundedAt),
    revoked_at: formatTime(license.revokedAt),
    extended_until: license.extendedUntil,
    granted_activations: license.grantedActivations,
    owner_changed_at: formatTime(license.ownerChangedAt),
  };
}

function viewPurchase(purchase: LicensePurchase | null) {
  return {
    provider: purchase?.provider ?? null,
    key_email_state: purchase?.emailState ?? null,
    key_email_reason: purchase?.emailReason ?? null,
    key_email_sent_at: formatTime(purchase?.emailSentAt ?? null),
  };
}

function formatTime(time: Date | null): string | null {
  return time?.toISOString() ?? null;
}
