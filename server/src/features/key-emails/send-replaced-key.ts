import type { Queryable } from '#server/db/statement.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';

import { rekeyLicense, type RekeyedLicense, type RekeyRequest } from '../licenses/rekey-license.ts';
import type { LicenseChangeDependencies } from '../licenses/dependencies.ts';
import type { BillingDependencies } from '../billing/dependencies.ts';
import { sendToOwner } from './send-to-owner.ts';
import { writeReplacedKeyEmail } from './write-key-email.ts';

interface RekeyDependencies extends LicenseChangeDependencies {
  readonly config: { readonly mail: { readonly from: string | null } };
}

/** Whether the e-mail with the new key is queued, or why not. */
type RekeyMail = 'queued' | 'not_wanted' | 'not_configured' | 'no_address';

/** A license with its new key, and whether it is e-mailed. */
export interface SentRekey extends RekeyedLicense {
  readonly mail: RekeyMail;
}

/**
 * Replaces the key of a license and queues the e-mail with the new key, in one transaction.
 * @param request.wantsMail whether to send the e-mail
 * @throws licenseNotFound
 */
export async function rekeyAndSend(
  deps: RekeyDependencies,
  request: RekeyRequest & { readonly wantsMail: boolean },
): Promise<SentRekey> {
  const decide = ({ license }: RekeyedLicense): RekeyMail => {
    if (!request.wantsMail) return 'not_wanted';
    if (license.customerEmail === null) return 'no_address';
    return deps.config.mail.from === null ? 'not_configured' : 'queued';
  };
  const rekeyed = await rekeyLicense(deps, request, async (db, result) => {
    const job = {
      licenseId: result.license.id,
      machinesKept: request.keepMachines,
      isRepeat: false,
    };
    if (decide(result) === 'queued') await queueReplacedKey(db, job);
  });
  return { ...rekeyed, mail: decide(rekeyed) };
}

/** The payload of the job. */
interface ReplacedKeyJob {
  readonly licenseId: string;
  /** Whether machines stay activated. */
  readonly machinesKept: boolean;
  /** Whether the relay received the e-mail before and did not confirm it. */
  readonly isRepeat: boolean;
}

/** Replaces a job that waits with an earlier key of the same license. */
async function queueReplacedKey(db: Queryable, job: ReplacedKeyJob, runAt?: Date): Promise<void> {
  const { licenseId, machinesKept, isRepeat } = job;
  const payload = { licenseId, machinesKept, isRepeat };
  await addJobs(db, [{ name: 'send_replaced_key', payload, key: licenseId, runAt }]);
}

/**
 * Sends the owner of a license its current key. Repetitions have the same Message-ID while the key is the same.
 * @throws Error if no mail is configured or a retry may succeed
 */
export async function sendReplacedKey(
  deps: BillingDependencies,
  job: ReplacedKeyJob,
  signal?: AbortSignal,
): Promise<void> {
  const { machinesKept } = job;
  await sendToOwner(deps, job, {
    kind: 'rekey',
    write: (language, key) => writeReplacedKeyEmail(language, { ...key, machinesKept }),
    requeue: (runAt) => queueReplacedKey(deps.pool, { ...job, isRepeat: true }, runAt),
    signal,
  });
}
