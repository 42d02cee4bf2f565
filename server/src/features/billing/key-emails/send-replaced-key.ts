import type { Context } from '#server/context.ts';
import type { Queryable } from '#server/db/statement.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';
import type { MailMessage } from '#server/mail/mail-transport.ts';

import { findLicense, type LicenseRecord } from '../../licenses/queries/licenses.ts';
import {
  rekeyLicense,
  type RekeyedLicense,
  type RekeyOrder,
} from '../../licenses/rekey-license.ts';
import { licenseKeyLabel } from '../../licenses/license-key.ts';
import { listTransactionsOfLicense } from '../queries/purchases.ts';
import { findBuyerLocale } from './queries.ts';
import { chooseLanguage } from './texts.ts';
import { writeReplacedKeyEmail } from './write-key-email.ts';

type MailContext = Pick<
  Context,
  'catalog' | 'clock' | 'log' | 'mail' | 'metrics' | 'pool' | 'vault'
>;

/** Whose key is sent. */
interface About {
  readonly licenseId: string;
  /** Whether computers that were active stay so. */
  readonly machinesKept: boolean;
  /** A relay had the e-mail before and did not say whether it took it. */
  readonly isRepeat: boolean;
}

/** When a relay has an e-mail and does not say whether it takes it, it is sent once more, after so long. */
const UNCONFIRMED_RETRY_DELAY_MS = 600_000;

/**
 * Sends the owner of a license its present key. A repetition has the same Message-ID while the key is the same.
 * @throws Error when no mail is configured, or the relay did not take it and may later: the job is tried again
 */
export async function sendReplacedKey(
  ctx: MailContext,
  about: About,
  signal?: AbortSignal,
): Promise<void> {
  const { licenseId } = about;
  const license = await findLicense(ctx.pool, licenseId);
  if (license === null || license.customerEmail === null) return;
  if (ctx.mail === null) throw new Error('no mail is configured');
  const message = await compose(ctx, license, license.customerEmail, about.machinesKept);
  const result = await ctx.mail.send(message, signal);
  ctx.metrics.countMail('key', result.outcome);
  if (result.outcome === 'sent') return;
  const { outcome, reason } = result;
  if (outcome === 'temporary') throw new Error(`the mail relay did not take it: ${reason}`);
  if (outcome === 'unknown' && !about.isRepeat) return scheduleResend(ctx, about);
  ctx.log.warn(
    { event: 'mail.replaced_key_failed', reason, licenseId },
    'could not deliver the e-mail with a new key; send the key to the customer another way',
  );
}

async function compose(
  { catalog, pool, vault }: MailContext,
  license: LicenseRecord,
  address: string,
  machinesKept: boolean,
): Promise<MailMessage> {
  const { id, customerName, keySealed, maxActivations, productId } = license;
  const written = writeReplacedKeyEmail(chooseLanguage(await findLocale(pool, id)), {
    customerName,
    productName: catalog().products.get(productId)?.name ?? productId,
    licenseKey: vault.open(keySealed, licenseKeyLabel(id)),
    maxActivations,
    machinesKept,
  });
  return {
    ...written,
    to: { address, name: customerName },
    messageToken: createMessageToken(vault, license),
  };
}

/** The locale of whoever bought it; null for a license without a payment. */
async function findLocale(pool: Context['pool'], licenseId: string): Promise<string | null> {
  const [bought] = await listTransactionsOfLicense(pool, licenseId);
  if (bought === undefined) return null;
  return findBuyerLocale(pool, { provider: bought.provider, transactionId: bought.id });
}

const TOKEN_DIGITS = 32;

function createMessageToken(
  vault: Pick<Context['vault'], 'hashText'>,
  license: LicenseRecord,
): string {
  const about = `${license.id} ${license.keySealed.toString('base64')}`;
  return `rekey-${vault.hashText('replaced-key-email', about).slice(0, TOKEN_DIGITS)}`;
}

async function scheduleResend({ clock, pool }: MailContext, about: About): Promise<void> {
  const runAt = new Date(clock.now().getTime() + UNCONFIRMED_RETRY_DELAY_MS);
  const payload = { ...about, isRepeat: true };
  await addJobs(pool, [{ name: 'send_replaced_key', payload, key: about.licenseId, runAt }]);
}

/** Whether the new key is e-mailed to the owner of the license: queued, or why not. */
type RekeyMail = 'queued' | 'not_wanted' | 'not_configured' | 'no_address';

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
