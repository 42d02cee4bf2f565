import { inTransaction } from '#server/db/transaction.ts';
import { activationNotFound, licenseNotFound } from '#server/errors.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { recordEvents } from '../outgoing-webhooks/record-events.ts';
import type { LicenseChangeDependencies } from './dependencies.ts';
import { freeActivation } from './queries/activations.ts';
import { refreshLicenseActivity } from './queries/license-activity.ts';
import { lockLicense } from './queries/licenses.ts';

/** A machine that an operator deactivates. */
export interface FreedMachine {
  readonly licenseId: string;
  readonly activationId: string;
  readonly actor: string;
  readonly reason: string;
}

/**
 * Deactivates a machine of a license, whatever its status, so that another one can be activated. Repeating it changes
 * nothing. A machine without a connection continues until its token expires.
 * @throws licenseNotFound, activationNotFound
 */
export async function freeMachine(
  deps: LicenseChangeDependencies,
  { licenseId, activationId, actor, reason }: FreedMachine,
): Promise<void> {
  await inTransaction(deps.pool, async (client) => {
    const license = await lockLicense(client, licenseId);
    if (license === null) throw licenseNotFound();
    const now = deps.clock.now();
    const isFreed = await freeActivation(client, licenseId, activationId, now);
    if (isFreed === null) throw activationNotFound();
    if (!isFreed) return;
    await refreshLicenseActivity(client, [licenseId]);
    const details = { activation_id: activationId };
    await recordEvents(deps, client, [{ type: 'activation.removed', license, details }], now);
    const subject = { action: 'license.free_machine', subjectId: licenseId };
    await insertAuditEntry(client, { ...subject, occurredAt: now, actor, reason, details });
  });
}
