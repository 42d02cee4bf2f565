/** Sends buyers the keys of their licenses. */
import { inTransaction } from '#server/db/transaction.ts';
import type { MailMessage, SendResult } from '#server/mail/mail-transport.ts';

import { licenseKeyLabel } from '../licenses/license-key.ts';
import type { BillingDependencies } from '../billing/dependencies.ts';
import type { CustomerKey, TransactionKey } from '../billing/queries/purchases.ts';
import { queueCustomerLookUps, queueGiftNotes, queueKeyEmails } from '../billing/queue-jobs.ts';
import { findBuyerPage } from './buyer-page.ts';
import {
  findBuyerLocale,
  findUnknownCustomer,
  listBoughtLicenses,
  type BoughtLicense,
} from './buyer-queries.ts';
import { findGift } from './gift-queries.ts';
import {
  claimKeyEmail,
  findKeyEmail,
  holdKeyEmail,
  insertKeyEmail,
  recordKeyEmailFailure,
  recordKeyEmailSent,
  UNCONFIRMED,
  updateAddressHash,
} from './queries.ts';
import { chooseLanguage } from './texts.ts';
import { toGreetingName, writeKeyEmail, type EmailedKey } from './write-key-email.ts';

/** Longer than a job may take: the process with an older claim was killed. */
export const CLAIM_TIMEOUT_MS = 180_000;

/**
 * After this time an e-mail no longer waits for the look-up of its customer, and is sent to the address of the
 * checkout.
 */
const LOOK_UP_DEADLINE_MS = 900_000;

/** After an unconfirmed attempt an e-mail is sent a second time, after this delay. */
export const UNCONFIRMED_RETRY_DELAY_MS = 600_000;

/** The tolerance of the delay, because the clocks of this process and of the database may differ. */
const CLOCK_TOLERANCE_MS = 60_000;

/**
 * Sends the buyer of a transaction all keys that were not sent before. Without an address, a valid license or a mail
 * relay the e-mail waits, and is queued again once that changes.
 *
 * Only one process sends it. If a process is killed between the acceptance by the relay and its record, the e-mail is
 * sent a second time with the same Message-ID: a duplicate is better than no key. The same holds after the first
 * unconfirmed attempt; after the second one it is left to the operator.
 * @throws Error if a retry may succeed
 */
export async function sendKeyEmail(
  deps: BillingDependencies,
  key: TransactionKey,
  signal?: AbortSignal,
): Promise<void> {
  const { pool, mail } = deps;
  await insertKeyEmail(pool, key, deps.clock.now());
  const bought = await listBoughtLicenses(pool, key);
  const address = bought.find(({ customerEmail }) => customerEmail !== null)?.customerEmail ?? null;
  // An operator may have given a license of the purchase to another person, and its buyer may have named any license.
  const valid = bought.filter(
    ({ isValid, isRenewed, customerEmail }) =>
      isValid && (customerEmail === null ? !isRenewed : isSameAddress(customerEmail, address)),
  );
  if (valid.length === 0) return holdKeyEmail(pool, key, 'withheld', 'no_license');
  if (address === null) return holdKeyEmail(pool, key, 'waiting', 'no_address');
  if (mail === null) return holdKeyEmail(pool, key, 'waiting', 'no_mail');
  const unknown = await findCustomerToLookUp(deps, key);
  if (unknown !== null) return waitForLookUp(deps, key, unknown);

  const addressHash = await hashAddress(deps, key, address);
  const delayedUntil = await findEndOfDelay(deps, key, addressHash);
  if (delayedUntil !== null) return queueKeyEmails(pool, [key], delayedUntil);

  const claimed = await claim(deps, key, valid, addressHash);
  if (claimed === null) return;
  const message = await compose(deps, key, claimed, address);
  const result = await mail.send(message, signal);
  deps.metrics.countMail('key', result.outcome);
  await record(deps, key, claimed, result);
}

/** Returns whether two spellings are of one address: case is ignored. */
export function isSameAddress(one: string | null, other: string | null): boolean {
  return one?.toLowerCase() === other?.toLowerCase();
}

/** The provider's data of the customer take precedence over those of the checkout. */
async function findCustomerToLookUp(
  { pool, paddleApi }: BillingDependencies,
  key: TransactionKey,
): Promise<CustomerKey | null> {
  if (key.provider !== 'paddle' || paddleApi === null) return null;
  return findUnknownCustomer(pool, key);
}

async function waitForLookUp(
  { clock, pool }: BillingDependencies,
  key: TransactionKey,
  customer: CustomerKey,
): Promise<void> {
  const runAt = new Date(clock.now().getTime() + LOOK_UP_DEADLINE_MS);
  await inTransaction(pool, async (client) => {
    await holdKeyEmail(client, key, 'waiting', 'look_up');
    await queueCustomerLookUps(client, [customer]);
    await queueKeyEmails(client, [key], runAt);
  });
}

/** Returns the hash of the address, and replaces stored hashes under previous master secrets by it. */
async function hashAddress(
  { pool, vault }: BillingDependencies,
  key: TransactionKey,
  address: string,
): Promise<string> {
  const normalized = address.toLowerCase();
  const addressHash = vault.hashText('email', normalized);
  for (const previous of vault.previous) {
    await updateAddressHash(pool, key, previous.hashText('email', normalized), addressHash);
  }
  return addressHash;
}

/** Returns until when a second attempt is delayed; null if it is not. */
async function findEndOfDelay(
  { clock, pool }: BillingDependencies,
  key: TransactionKey,
  addressHash: string,
): Promise<Date | null> {
  const email = await findKeyEmail(pool, key);
  const isWaiting = email?.state === 'waiting' || email?.state === 'withheld';
  if (!isWaiting || email.unconfirmedAt === null || email.addressHash !== addressHash) return null;
  const end = email.unconfirmedAt.getTime() + UNCONFIRMED_RETRY_DELAY_MS;
  return end - CLOCK_TOLERANCE_MS > clock.now().getTime() ? new Date(end) : null;
}

interface Claim {
  /** The licenses whose keys are sent now. */
  readonly licenses: readonly BoughtLicense[];
  readonly isUnconfirmed: boolean;
  readonly createdAt: Date;
}

/** Claims the keys to send; null if all were sent. */
async function claim(
  { clock, pool }: BillingDependencies,
  key: TransactionKey,
  valid: readonly BoughtLicense[],
  addressHash: string,
): Promise<Claim | null> {
  const now = clock.now();
  const claimed = await claimKeyEmail(pool, key, {
    licenseIds: valid.map(({ id }) => id),
    addressHash,
    now,
    abandonedBefore: new Date(now.getTime() - CLAIM_TIMEOUT_MS),
  });
  if (claimed !== null) {
    const { sentBefore, ...others } = claimed;
    return { licenses: valid.filter(({ id }) => !sentBefore.includes(id)), ...others };
  }
  const email = await findKeyEmail(pool, key);
  if (email?.state === 'sending') throw new Error('another process is sending it');
  return null;
}

async function compose(
  deps: BillingDependencies,
  key: TransactionKey,
  claimed: Claim,
  address: string,
): Promise<MailMessage> {
  const { licenses, createdAt } = claimed;
  const customerName = licenses.find((license) => license.customerName !== null)?.customerName;
  const written = writeKeyEmail(chooseLanguage(await findBuyerLocale(deps.pool, key)), {
    customerName: customerName ?? null,
    transactionId: key.transactionId,
    buyerPage: findBuyerPage(deps.config),
    keys: licenses.map((license) => toEmailedKey(deps, license)),
  });
  const ids = licenses.map(({ id }) => id).sort();
  return {
    ...written,
    to: { address, name: toGreetingName(customerName ?? null) },
    messageToken: createMessageToken(deps, 'key', [
      key.provider,
      key.transactionId,
      ids,
      createdAt,
    ]),
  };
}

export function toEmailedKey(
  { catalog, vault }: BillingDependencies,
  license: Pick<
    BoughtLicense,
    'id' | 'productId' | 'keySealed' | 'maxActivations' | 'updatesUntil'
  >,
): EmailedKey {
  const { id, productId, keySealed, maxActivations, updatesUntil } = license;
  return {
    productName: catalog().products.get(productId)?.name ?? productId,
    licenseKey: vault.open(keySealed, licenseKeyLabel(id)),
    maxActivations,
    updatesUntil,
  };
}

const TOKEN_DIGITS = 32;

/**
 * Creates the token of the Message-ID: the same for the same keys, so that mail programs show a duplicate once, until
 * an operator resets the e-mail. It is a hash, because it must not reveal its content.
 */
export function createMessageToken(
  { vault }: BillingDependencies,
  kind: 'key' | 'rekey' | 'resend' | 'freed' | 'gift',
  content: readonly unknown[],
): string {
  return `${kind}-${vault.hashText(`${kind}-email`, JSON.stringify(content)).slice(-TOKEN_DIGITS)}`;
}

async function record(
  deps: BillingDependencies,
  key: TransactionKey,
  { licenses, isUnconfirmed }: Claim,
  result: SendResult,
): Promise<void> {
  const { log, pool } = deps;
  if (result.outcome === 'sent') {
    const licenseIds = licenses.map(({ id }) => id);
    const { messageId } = result;
    return inTransaction(pool, async (client) => {
      await recordKeyEmailSent(client, key, { licenseIds, messageId, sentAt: deps.clock.now() });
      if ((await findGift(client, key)) !== null) await queueGiftNotes(client, [key]);
    });
  }
  const { outcome, reason } = result;
  const fields = { reason, licenseId: licenses[0]?.id };
  if (outcome === 'unknown') {
    if (!isUnconfirmed) return scheduleSecondAttempt(deps, key);
    log.warn(
      { event: 'mail.key_email_unconfirmed', ...fields },
      'mail relay did not confirm an e-mail with keys',
    );
    return recordKeyEmailFailure(pool, key, 'refused', UNCONFIRMED);
  }
  if (outcome === 'permanent') {
    log.warn(
      { event: 'mail.key_email_refused', ...fields },
      'mail relay refused an e-mail with keys permanently',
    );
    return recordKeyEmailFailure(pool, key, 'refused', reason);
  }
  await recordKeyEmailFailure(pool, key, 'waiting', reason);
  throw new Error(`the mail relay did not accept it: ${reason}`);
}

async function scheduleSecondAttempt(
  { clock, pool }: BillingDependencies,
  key: TransactionKey,
): Promise<void> {
  const now = clock.now();
  const runAt = new Date(now.getTime() + UNCONFIRMED_RETRY_DELAY_MS);
  await inTransaction(pool, async (client) => {
    await recordKeyEmailFailure(client, key, 'waiting', UNCONFIRMED, now);
    await queueKeyEmails(client, [key], runAt);
  });
}
