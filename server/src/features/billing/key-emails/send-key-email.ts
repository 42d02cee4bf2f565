import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { licenseKeyLabel } from '#server/features/licenses/license-key.ts';
import type { MailMessage, SendResult } from '#server/mail/mail-transport.ts';

import { queueKeyEmails, queueCustomerLookUps, type CustomerKey } from '../queue-jobs.ts';
import { findUnknownCustomer } from './customer-queries.ts';
import { chooseLanguage } from './texts.ts';
import { writeKeyEmail } from './write-key-email.ts';
import {
  claimKeyEmail,
  findBuyerLocale,
  holdKeyEmail,
  insertKeyEmail,
  isKeyEmailUnderWay,
  listBoughtLicenses,
  recordKeyEmailFailure,
  recordKeyEmailSent,
  UNCONFIRMED,
  type BoughtLicense,
  type TransactionKey,
} from './queries.ts';
import {
  findUnconfirmedKeyEmail,
  moveKeyEmailAddress,
  recordKeyEmailUnconfirmed,
} from './unconfirmed-queries.ts';

/** What sending needs of the context. */
type KeyEmailContext = Pick<
  Context,
  'catalog' | 'clock' | 'log' | 'mail' | 'metrics' | 'paddleApi' | 'pool' | 'vault'
>;

/** Longer than a job may take: whoever claimed an e-mail this long ago and has not said what became of it is gone. */
export const CLAIM_TIMEOUT_MS = 180_000;

/**
 * How long an e-mail waits for its customer to be looked up, although the checkout's own data have an address: when the
 * provider cannot be asked, that one is better than none.
 */
const LOOK_UP_DEADLINE_MS = 900_000;

/** When a relay has an e-mail and does not say whether it takes it, it is sent once more, after so long. */
const UNCONFIRMED_RETRY_DELAY_MS = 600_000;

/** This clock and the one by which jobs begin may differ: so little of the pause counts as none. */
const CLOCK_SLACK_MS = 60_000;

/**
 * Sends the buyer of a transaction all keys of it that were not sent before. Without an address, a good license or a relay
 * it waits, and is asked for again when that changes.
 *
 * Two processes never send the same. A process that is killed after the relay has taken the e-mail and before that was
 * noted lets it be sent a second time, under the same Message-ID: a key twice is better than none. So does a relay that
 * gets the e-mail and does not answer in time; when it does so again, nothing is sent any more, and an operator is told.
 * @throws Error when the relay did not take it and may later
 */
export async function sendKeyEmail(
  ctx: KeyEmailContext,
  name: TransactionKey,
  signal?: AbortSignal,
): Promise<void> {
  const { pool, mail } = ctx;
  await insertKeyEmail(pool, name, ctx.clock.now());
  const bought = await listBoughtLicenses(pool, name);
  const good = bought.filter((license) => license.good);
  const address = bought.find(({ customerEmail }) => customerEmail !== null)?.customerEmail ?? null;
  if (good.length === 0) return holdKeyEmail(pool, name, 'withheld', 'no_license');
  if (address === null) return holdKeyEmail(pool, name, 'waiting', 'no_address');
  if (mail === null) return holdKeyEmail(pool, name, 'waiting', 'no_mail');
  const unknown = await findCustomerToLookUp(ctx, name);
  if (unknown !== null) return waitForLookUp(ctx, name, unknown);

  const addressHash = ctx.vault.hashText('email', address.toLowerCase());
  for (const hashes of ctx.vault.previous) {
    const outdated = hashes.hashText('email', address.toLowerCase());
    await moveKeyEmailAddress(pool, name, outdated, addressHash);
  }
  const pausedUntil = await findEndOfPause(ctx, name, addressHash);
  if (pausedUntil !== null) return queueKeyEmails(pool, [name], pausedUntil);

  const claimed = await claim(ctx, name, good, addressHash);
  if (claimed === null) return;
  const message = await compose(ctx, name, claimed, address);
  const result = await mail.send(message, signal);
  ctx.metrics.countMail('key', result.outcome);
  await record(ctx, name, claimed, result);
}

/** What the provider says of its customer is worth more than what the checkout's own data say. */
async function findCustomerToLookUp(
  { pool, paddleApi }: KeyEmailContext,
  name: TransactionKey,
): Promise<CustomerKey | null> {
  if (name.provider !== 'paddle' || paddleApi === null) return null;
  return findUnknownCustomer(pool, name);
}

async function waitForLookUp(
  ctx: KeyEmailContext,
  name: TransactionKey,
  customer: CustomerKey,
): Promise<void> {
  const runAt = new Date(ctx.clock.now().getTime() + LOOK_UP_DEADLINE_MS);
  await inTransaction(ctx.pool, async (client) => {
    await holdKeyEmail(client, name, 'waiting', 'look_up');
    await queueCustomerLookUps(client, [customer]);
    await queueKeyEmails(client, [name], runAt);
  });
}

/** Until when the e-mail is not sent once more, whoever asks for it; null: it may be. */
async function findEndOfPause(
  { clock, pool }: KeyEmailContext,
  name: TransactionKey,
  addressHash: string,
): Promise<Date | null> {
  const unconfirmedAt = await findUnconfirmedKeyEmail(pool, name, addressHash);
  if (unconfirmedAt === null) return null;
  const end = unconfirmedAt.getTime() + UNCONFIRMED_RETRY_DELAY_MS;
  return end - CLOCK_SLACK_MS > clock.now().getTime() ? new Date(end) : null;
}

interface Claim {
  /** Whose keys are to be sent now. */
  readonly licenses: readonly BoughtLicense[];
  readonly isUnconfirmed: boolean;
  readonly begunAt: Date;
}

/** Takes what is to be sent now; null when that is done already. */
async function claim(
  ctx: KeyEmailContext,
  name: TransactionKey,
  good: readonly BoughtLicense[],
  addressHash: string,
): Promise<Claim | null> {
  const now = ctx.clock.now();
  const claimed = await claimKeyEmail(ctx.pool, name, {
    licenseIds: good.map(({ id }) => id),
    addressHash,
    now,
    abandonedBefore: new Date(now.getTime() - CLAIM_TIMEOUT_MS),
  });
  if (claimed !== null) {
    const { sentBefore, ...others } = claimed;
    return { licenses: good.filter(({ id }) => !sentBefore.includes(id)), ...others };
  }
  if (await isKeyEmailUnderWay(ctx.pool, name)) throw new Error('another process is sending it');
  return null;
}

async function compose(
  { catalog, pool, vault }: KeyEmailContext,
  name: TransactionKey,
  claimed: Claim,
  address: string,
): Promise<MailMessage> {
  const { licenses } = claimed;
  const { products } = catalog();
  const customerName = licenses.find((license) => license.customerName !== null)?.customerName;
  const written = writeKeyEmail(chooseLanguage(await findBuyerLocale(pool, name)), {
    customerName: customerName ?? null,
    transactionId: name.transactionId,
    keys: licenses.map((license) => ({
      productName: products.get(license.productId)?.name ?? license.productId,
      licenseKey: vault.open(license.keySealed, licenseKeyLabel(license.id)),
      maxActivations: license.maxActivations,
    })),
  });
  return {
    ...written,
    to: { address, name: customerName ?? null },
    messageToken: createMessageToken(vault, name, claimed),
  };
}

const TOKEN_DIGITS = 32;

/**
 * The same for the same keys, so that mail programs show a repetition once, unless an operator has them sent again; without
 * what it is about.
 */
function createMessageToken(
  vault: Pick<Context['vault'], 'hashText'>,
  { provider, transactionId }: TransactionKey,
  { licenses, begunAt }: Claim,
): string {
  const ids = licenses.map(({ id }) => id).sort();
  const about = JSON.stringify([provider, transactionId, ids, begunAt]);
  return `key-${vault.hashText('key-email', about).slice(-TOKEN_DIGITS)}`;
}

async function record(
  ctx: KeyEmailContext,
  name: TransactionKey,
  { licenses, isUnconfirmed }: Claim,
  result: SendResult,
): Promise<void> {
  if (result.outcome === 'sent') {
    const licenseIds = licenses.map(({ id }) => id);
    const { messageId } = result;
    const sent = { licenseIds, messageId, sentAt: ctx.clock.now() };
    return recordKeyEmailSent(ctx.pool, name, sent);
  }
  const { outcome, reason } = result;
  const about = { reason, licenseId: licenses[0]?.id };
  if (outcome === 'unknown') {
    if (!isUnconfirmed) return scheduleResend(ctx, name);
    ctx.log.warn(about, 'the mail relay does not say whether it takes an e-mail with keys');
    return recordKeyEmailFailure(ctx.pool, name, 'refused', UNCONFIRMED);
  }
  if (outcome === 'permanent') {
    ctx.log.warn(about, 'the mail relay refuses an e-mail with keys for good');
    return recordKeyEmailFailure(ctx.pool, name, 'refused', reason);
  }
  await recordKeyEmailFailure(ctx.pool, name, 'waiting', reason);
  throw new Error(`the mail relay did not take it: ${reason}`);
}

async function scheduleResend(
  { clock, pool }: Pick<KeyEmailContext, 'clock' | 'pool'>,
  name: TransactionKey,
): Promise<void> {
  const now = clock.now();
  const runAt = new Date(now.getTime() + UNCONFIRMED_RETRY_DELAY_MS);
  await inTransaction(pool, async (client) => {
    await recordKeyEmailUnconfirmed(client, name, now);
    await queueKeyEmails(client, [name], runAt);
  });
}
