import type { Pool } from 'pg';

import type { Queryable } from '#server/db/statement.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';
import type { MailMessage } from '#server/mail/mail-transport.ts';

import { findLicense, type LicenseRecord } from '../../licenses/queries/licenses.ts';
import {
  rekeyLicense,
  type RekeyedLicense,
  type RekeyRequest,
} from '../../licenses/rekey-license.ts';
import type { LicenseChangeDependencies } from '../../licenses/dependencies.ts';
import type { BillingDependencies } from '../dependencies.ts';
import { listTransactionsOfLicense } from '../queries/purchases.ts';
import { findBuyerLocale } from './buyer-queries.ts';
import { createMessageToken, toEmailedKey, UNCONFIRMED_RETRY_DELAY_MS } from './send-key-email.ts';
import { chooseLanguage } from './texts.ts';
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
 * @param order.wantsMail whether to send the e-mail
 * @throws licenseNotFound
 */
export async function rekeyAndSend(
  deps: RekeyDependencies,
  order: RekeyRequest & { readonly wantsMail: boolean },
): Promise<SentRekey> {
  const decide = ({ license }: RekeyedLicense): RekeyMail => {
    if (!order.wantsMail) return 'not_wanted';
    if (license.customerEmail === null) return 'no_address';
    return deps.config.mail.from === null ? 'not_configured' : 'queued';
  };
  const rekeyed = await rekeyLicense(deps, order, async (db, result) => {
    const job = { licenseId: result.license.id, machinesKept: order.keepMachines, isRepeat: false };
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
  const { licenseId } = job;
  const license = await findLicense(deps.pool, licenseId);
  if (license === null || license.customerEmail === null) return;
  if (deps.mail === null) throw new Error('no mail is configured');
  const message = await compose(deps, license, license.customerEmail, job.machinesKept);
  const result = await deps.mail.send(message, signal);
  deps.metrics.countMail('key', result.outcome);
  if (result.outcome === 'sent') return;
  const { outcome, reason } = result;
  if (outcome === 'temporary') throw new Error(`the mail relay did not accept it: ${reason}`);
  if (outcome === 'unknown' && !job.isRepeat) {
    const runAt = new Date(deps.clock.now().getTime() + UNCONFIRMED_RETRY_DELAY_MS);
    return queueReplacedKey(deps.pool, { ...job, isRepeat: true }, runAt);
  }
  deps.log.warn(
    { event: 'mail.replaced_key_failed', reason, licenseId },
    'could not deliver the e-mail with a new key; send the key to the customer another way',
  );
}

async function compose(
  deps: BillingDependencies,
  license: LicenseRecord,
  address: string,
  machinesKept: boolean,
): Promise<MailMessage> {
  const { id, customerName, keySealed } = license;
  const written = writeReplacedKeyEmail(chooseLanguage(await findLocale(deps.pool, id)), {
    ...toEmailedKey(deps, license),
    customerName,
    machinesKept,
  });
  return {
    ...written,
    to: { address, name: customerName },
    messageToken: createMessageToken(deps, 'rekey', [id, keySealed.toString('base64')]),
  };
}

/** Returns the locale of the buyer; null for a license that was not bought. */
async function findLocale(pool: Pool, licenseId: string): Promise<string | null> {
  const [bought] = await listTransactionsOfLicense(pool, licenseId);
  if (bought === undefined) return null;
  return findBuyerLocale(pool, { provider: bought.provider, transactionId: bought.id });
}
