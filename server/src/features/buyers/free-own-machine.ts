import type { PoolClient } from 'pg';

import type { Queryable } from '#server/db/statement.ts';
import { activationNotFound, licenseNotFound } from '#server/errors.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';

import { changeMachines, type Authorize } from '../licenses/activate.ts';
import { freeMachineOf } from '../licenses/free-machine.ts';
import type { LicenseRecord } from '../licenses/queries/licenses.ts';
import {
  findFreedByOwner,
  findMachineOf,
  markFreedByOwner,
} from '../licenses/queries/machine-pages.ts';
import { countMoves } from '../licenses/queries/moves.ts';
import { readMoveAllowance } from '../licenses/rules/decide-activation.ts';
import type { BuyerDependencies } from './dependencies.ts';
import { readMoves, requireOwnMachine, type OwnMachine } from './own-licenses.ts';
import type { OwnLicense } from './queries/own-licenses.ts';
import { decideFreeing, type FreeingDecision } from './rules/decide-freeing.ts';
import { ownsLicense, type BuyerSession } from './session.ts';

/** The actor in the audit log. */
export const BUYER = 'buyer';

/** Requires that a license, which is locked, still belongs to a session. */
export function requireOwner(session: BuyerSession): Authorize {
  return async (client, license) => {
    if (!(await ownsLicense(client, session, license))) throw licenseNotFound();
  };
}

/**
 * Deactivates a machine of a license for its owner, who gets an e-mail about it.
 * @returns the decision; the machine is deactivated if that is `free`
 * @throws licenseNotFound, activationNotFound (404)
 */
export async function freeOwnMachine(
  deps: BuyerDependencies,
  session: BuyerSession,
  licenseId: string,
  activationId: string,
): Promise<FreeingDecision> {
  // Before the license is locked, which every session could do otherwise.
  await requireOwnMachine(deps, session, licenseId, activationId);
  return changeMachines(deps, licenseId, requireOwner(session), async (client, license) => {
    const decision = await decide(deps, client, license, activationId);
    if (decision.kind !== 'free') {
      if (decision.kind !== 'already') deps.metrics.countRefusal('free_machine', decision.kind);
      return decision;
    }
    // Its software may have deactivated it since the decision.
    if (!(await markFreedByOwner(client, license.id, activationId))) return { kind: 'already' };
    await queueMail(deps, client, license, activationId);
    await freeMachineOf(deps, client, license, { activationId, actor: BUYER, reason: null });
    return decision;
  });
}

async function decide(
  { catalog, clock }: BuyerDependencies,
  client: Queryable,
  license: LicenseRecord,
  activationId: string,
): Promise<FreeingDecision> {
  const now = clock.now();
  const machine = await findMachineOf(client, license.id, activationId);
  if (machine === null) throw activationNotFound();
  const rule = catalog().products.get(license.productId)?.moves;
  const allowance = readMoveAllowance(license, rule, now);
  const { extra } = await countMoves(client, license.id, allowance);
  const limit = allowance.limit + extra;
  const limitReachedAt = await findFreedByOwner(client, license.id, allowance.since, limit);
  return decideFreeing({ machine, limit, days: allowance.days, limitReachedAt }, now);
}

async function queueMail(
  { clock, config }: BuyerDependencies,
  client: PoolClient,
  { id, customerEmail }: LicenseRecord,
  activationId: string,
): Promise<void> {
  if (customerEmail === null || config.mail.from === null) return;
  const freedAt = clock.now().toISOString();
  const payload = { licenseId: id, activationId, freedAt, isRepeat: false };
  await addJobs(client, [{ name: 'send_machine_freed', payload, key: activationId }]);
}

/** What would happen if the owner of a license deactivated a machine. */
export interface FreeingPreview {
  readonly decision: FreeingDecision;
  readonly license: OwnLicense;
  readonly machine: OwnMachine;
  readonly moves: { readonly left: number; readonly days: number };
}

/** Returns what {@link freeOwnMachine} would decide, and changes nothing. @throws licenseNotFound, activationNotFound */
export async function previewFreeing(
  deps: BuyerDependencies,
  session: BuyerSession,
  licenseId: string,
  activationId: string,
): Promise<FreeingPreview> {
  const { license, machine } = await requireOwnMachine(deps, session, licenseId, activationId);
  return deps.databaseLimiter.run(async () => ({
    decision: await decide(deps, deps.pool, license, activationId),
    license,
    machine,
    moves: await readMoves(deps, license),
  }));
}
