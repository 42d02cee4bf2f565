import type { PoolClient } from 'pg';

import { inTransaction } from '#server/db/transaction.ts';
import { activationNotFound, licenseNotFound } from '#server/errors.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { recordEvents } from '../outgoing-webhooks/record-events.ts';
import type { LicenseChangeDependencies } from './dependencies.ts';
import { freeActivation } from './queries/activations.ts';
import { refreshLicenseActivity } from './queries/license-activity.ts';
import { lockLicense, type LicenseRecord } from './queries/licenses.ts';

/** A machine that somebody else than its software deactivates. */
export interface FreedMachine {
  readonly licenseId: string;
  readonly activationId: string;
  readonly actor: string;
  /** Null: the owner of the license, who gives none. */
  readonly reason: string | null;
}

/**
 * Deactivates a machine of a license, whatever its status, so that another one can be activated. Repeating it changes
 * nothing. A machine without a connection continues until its token expires.
 * @throws licenseNotFound, activationNotFound
 */
export async function freeMachine(
  deps: LicenseChangeDependencies,
  freed: FreedMachine,
): Promise<void> {
  await inTransaction(deps.pool, async (client) => {
    const license = await lockLicense(client, freed.licenseId);
    if (license === null) throw licenseNotFound();
    await freeMachineOf(deps, client, license, freed);
  });
}

/** As {@link freeMachine}, for a license that is locked. @returns whether the machine was active */
export async function freeMachineOf(
  deps: LicenseChangeDependencies,
  client: PoolClient,
  license: LicenseRecord,
  { activationId, actor, reason }: Omit<FreedMachine, 'licenseId'>,
): Promise<boolean> {
  const now = deps.clock.now();
  const isFreed = await freeActivation(client, license.id, activationId, now);
  if (isFreed === null) throw activationNotFound();
  if (!isFreed) return false;
  await refreshLicenseActivity(client, [license.id]);
  const details = { activation_id: activationId };
  await recordEvents(deps, client, [{ type: 'activation.removed', license, details }], now);
  const subject = { action: 'license.free_machine', subjectId: license.id };
  await insertAuditEntry(client, { ...subject, occurredAt: now, actor, reason, details });
  return true;
}
