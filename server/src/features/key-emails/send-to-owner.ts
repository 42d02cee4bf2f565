import type { Pool } from 'pg';

import type { MailMessage } from '#server/mail/mail-transport.ts';
import type { RenderedMail } from '#server/mail/render-mail.ts';

import { findLicense, type LicenseRecord } from '../licenses/queries/licenses.ts';
import type { BillingDependencies } from '../billing/dependencies.ts';
import { listTransactionsOfLicense } from '../billing/queries/purchases.ts';
import { findBuyerPage } from './buyer-page.ts';
import { findBuyerLocale } from './buyer-queries.ts';
import { recordOwnerEmail } from './owner-email-queries.ts';
import { createMessageToken, toEmailedKey, UNCONFIRMED_RETRY_DELAY_MS } from './send-key-email.ts';
import type { Language } from '@latchkey/contract';

import { chooseLanguage } from './texts.ts';
import { toGreetingName, type EmailedKey, type KeyEmailFacts } from './write-key-email.ts';

/** The key of a license, the name of its owner, and the page for buyers; null if unknown. */
type OwnedKey = EmailedKey & Pick<KeyEmailFacts, 'buyerPage' | 'customerName'>;

interface OwnerMail {
  readonly kind: 'rekey' | 'resend' | 'freed';
  /** What distinguishes the Message-ID, beside the key. */
  readonly occasion?: string;
  readonly write: (language: Language, key: OwnedKey) => RenderedMail;
  /** Queues the e-mail a second time, if the relay did not confirm it. */
  readonly requeue: (runAt: Date) => Promise<void>;
  readonly signal: AbortSignal | undefined;
}

/**
 * Sends the owner of a license an e-mail, such as one with its current key. Repetitions have the same Message-ID while the key and the occasion are the same.
 * @param job.isRepeat whether the relay received the e-mail before and did not confirm it
 * @throws Error if no mail is configured or a retry may succeed
 */
export async function sendToOwner(
  deps: BillingDependencies,
  { licenseId, isRepeat }: { readonly licenseId: string; readonly isRepeat: boolean },
  mail: OwnerMail,
): Promise<void> {
  const license = await findLicense(deps.pool, licenseId);
  if (license === null || license.customerEmail === null) return;
  if (deps.mail === null) throw new Error('no mail is configured');
  const { language, message } = await compose(deps, license, license.customerEmail, mail);
  const result = await deps.mail.send(message, mail.signal);
  const { messageToken, to } = message;
  const template = TEMPLATES[mail.kind];
  const sent = { messageToken, template, language, email: to.address };
  await recordOwnerEmail(deps.pool, sent, result, isRepeat, deps.clock.now());
  deps.metrics.countMail(mail.kind === 'freed' ? 'machine_freed' : 'key', result.outcome);
  if (result.outcome === 'sent') return;
  const { outcome, reason } = result;
  if (outcome === 'temporary') throw new Error(`the mail relay did not accept it: ${reason}`);
  if (outcome === 'unknown' && !isRepeat) {
    return mail.requeue(new Date(deps.clock.now().getTime() + UNCONFIRMED_RETRY_DELAY_MS));
  }
  const failure = mail.kind === 'freed' ? FREED_FAILURE : KEY_FAILURE;
  deps.log.warn({ event: failure.event, reason, licenseId }, failure.message);
}

const TEMPLATES = {
  rekey: 'replaced_key',
  resend: 'key',
  freed: 'machine_freed',
} as const;

const KEY_FAILURE = {
  event: 'mail.replaced_key_failed',
  message: 'could not deliver the e-mail with a key; send the key to the customer another way',
};

const FREED_FAILURE = {
  event: 'mail.machine_freed_failed',
  message: 'could not deliver the e-mail about a deactivated machine',
};

async function compose(
  deps: BillingDependencies,
  license: LicenseRecord,
  address: string,
  { kind, occasion, write }: OwnerMail,
): Promise<{ readonly language: Language; readonly message: MailMessage }> {
  const { id, customerName, keySealed } = license;
  const language = chooseLanguage(await findLocale(deps.pool, id));
  const message = {
    ...write(language, {
      ...toEmailedKey(deps, license),
      customerName,
      buyerPage: findBuyerPage(deps.config),
    }),
    to: { address, name: toGreetingName(customerName) },
    messageToken: createMessageToken(deps, kind, [
      id,
      keySealed.toString('base64'),
      ...(occasion === undefined ? [] : [occasion]),
    ]),
  };
  return { language, message };
}

/** Returns the locale of the buyer; null for a license that was not bought. */
async function findLocale(pool: Pool, licenseId: string): Promise<string | null> {
  const [bought] = await listTransactionsOfLicense(pool, licenseId);
  if (bought === undefined) return null;
  return findBuyerLocale(pool, { provider: bought.provider, transactionId: bought.id });
}
