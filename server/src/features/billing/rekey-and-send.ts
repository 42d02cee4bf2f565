import type { Context } from '#server/context.ts';
import type { Queryable } from '#server/db/statement.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';

import { rekeyLicense, type RekeyedLicense, type RekeyOrder } from '../licenses/rekey-license.ts';

/** Whether the new key is e-mailed to the owner of the license: queued, or why not. */
export type RekeyMail = 'queued' | 'not_wanted' | 'not_configured' | 'no_address';

/** A license with its new key, and how the owner gets it. */
export interface SentRekey extends RekeyedLicense {
  readonly mail: RekeyMail;
}

/**
 * Replaces the key of a license and has the new one e-mailed to its owner, both in one transaction.
 * @param order.wantsMail whether to e-mail it
 * @throws licenseNotFound
 */
export async function rekeyAndSend(
  ctx: Context,
  order: RekeyOrder & { readonly wantsMail: boolean },
): Promise<SentRekey> {
  const decide = ({ license }: RekeyedLicense): RekeyMail => {
    if (!order.wantsMail) return 'not_wanted';
    if (license.customerEmail === null) return 'no_address';
    return ctx.config.mail.from === null ? 'not_configured' : 'queued';
  };
  const rekeyed = await rekeyLicense(ctx, order, async (db, made) => {
    if (decide(made) === 'queued') await queueReplacedKey(db, made, order.keepMachines);
  });
  return { ...rekeyed, mail: decide(rekeyed) };
}

/** A job that waits for an earlier new key is replaced: only the newest key is worth having. */
async function queueReplacedKey(
  db: Queryable,
  { license }: RekeyedLicense,
  machinesKept: boolean,
): Promise<void> {
  const payload = { licenseId: license.id, machinesKept, isRepeat: false };
  await addJobs(db, [{ name: 'send_replaced_key', payload, key: license.id }]);
}
