import type { Pool, PoolClient } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { licenseNotFound } from '#server/errors.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';
import type { JobPayload } from '#server/jobs/job-definitions.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { findLicense, type LicenseRecord } from '../licenses/queries/licenses.ts';
import { isUsable, licenseStatus } from '../licenses/rules/status.ts';
import type { BillingDependencies } from '../billing/dependencies.ts';
import { listTransactionsOfLicense, type TransactionKey } from '../billing/queries/purchases.ts';
import { queueKeyEmails } from '../billing/queue-jobs.ts';
import { resetKeyEmail } from './backlog-queries.ts';
import { listBoughtLicenses } from './buyer-queries.ts';
import { CLAIM_TIMEOUT_MS, isSameAddress } from './send-key-email.ts';
import { sendToOwner } from './send-to-owner.ts';
import { writeLicenseKeyEmail } from './write-key-email.ts';

/** Whether the e-mail is queued, or why not. */
export type ResendOutcome = 'queued' | 'not_configured' | 'no_address' | 'not_valid' | 'sending';

interface ResendDependencies {
  readonly clock: Clock;
  readonly config: { readonly mail: Pick<Config['mail'], 'from'> };
  readonly pool: Pool;
}

/** A license whose key is e-mailed again. */
export interface LicenseResend {
  readonly licenseId: string;
  readonly actor: string;
  readonly reason: string | null;
}

/**
 * E-mails the owner of a license its key again, with an audit entry: by the e-mail of its purchase where all keys of that go
 * to the same address, so that its record is right, else by an e-mail of its own.
 * @throws licenseNotFound
 */
export async function resendLicenseKey(
  { clock, config, pool }: ResendDependencies,
  { licenseId, actor, reason }: LicenseResend,
): Promise<ResendOutcome> {
  const now = clock.now();
  return inTransaction(pool, async (client) => {
    const license = await findLicense(client, licenseId);
    if (license === null) throw licenseNotFound();
    if (!isUsable(licenseStatus(license, now))) return 'not_valid';
    if (license.customerEmail === null) return 'no_address';
    if (config.mail.from === null) return 'not_configured';
    if (!(await queue(client, license, now))) return 'sending';
    const subject = { action: 'license.resend_key', subjectId: licenseId };
    await insertAuditEntry(client, { ...subject, occurredAt: now, actor, reason, details: {} });
    return 'queued';
  });
}

/** Returns false if the e-mail of the purchase is just being sent. */
async function queue(client: PoolClient, license: LicenseRecord, now: Date): Promise<boolean> {
  const purchase = await findSharedPurchase(client, license);
  if (purchase === null) {
    await queueLicenseKey(client, toJob(license.id, now));
    return true;
  }
  const abandonedBefore = new Date(now.getTime() - CLAIM_TIMEOUT_MS);
  const reset = await resetKeyEmail(client, purchase.transactionId, { now, abandonedBefore });
  await queueKeyEmails(client, reset);
  return reset.length > 0;
}

/** Returns the purchase of a license if all licenses of that have the same owner; null if not, or if it was not bought. */
async function findSharedPurchase(
  db: Queryable,
  { id, customerEmail }: LicenseRecord,
): Promise<TransactionKey | null> {
  const [bought] = await listTransactionsOfLicense(db, id);
  if (bought === undefined) return null;
  const purchase = { provider: bought.provider, transactionId: bought.id };
  const licenses = await listBoughtLicenses(db, purchase);
  const isShared = licenses.every((each) => isSameAddress(each.customerEmail, customerEmail));
  return isShared ? purchase : null;
}

type LicenseKeyJob = JobPayload<'send_license_key'>;

function toJob(licenseId: string, now: Date): LicenseKeyJob {
  return { licenseId, requestedAt: now.toISOString(), isRepeat: false };
}

/** Replaces a job that waits for the same license. */
async function queueLicenseKey(db: Queryable, payload: LicenseKeyJob, runAt?: Date): Promise<void> {
  await addJobs(db, [{ name: 'send_license_key', payload, key: payload.licenseId, runAt }]);
}

/** Queues the e-mail with the key of a license that was just issued. */
export async function queueIssuedKey(db: Queryable, licenseId: string, now: Date): Promise<void> {
  await queueLicenseKey(db, toJob(licenseId, now));
}

/** Sends the owner of a license its key. @throws Error if no mail is configured or a retry may succeed */
export async function sendLicenseKey(
  deps: BillingDependencies,
  job: LicenseKeyJob,
  signal?: AbortSignal,
): Promise<void> {
  await sendToOwner(deps, job, {
    kind: 'resend',
    occasion: job.requestedAt,
    write: writeLicenseKeyEmail,
    requeue: (runAt) => queueLicenseKey(deps.pool, { ...job, isRepeat: true }, runAt),
    signal,
  });
}
