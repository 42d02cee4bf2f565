import type { Pool } from 'pg';
import type { Logger } from 'pino';

import type { Clock } from '#server/clock.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';
import type { Vault } from '#server/lib/vault.ts';
import type { MailMessage, MailTransport, SendResult } from '#server/mail/mail-transport.ts';

import { nameSender, type SenderSettings } from '../suppressions/page-frame.ts';
import { createUnsubscribeHeaders, createUnsubscribeUrl } from '../suppressions/unsubscribe.ts';
import { createConfirmationToken, hashConfirmationToken } from './confirm.ts';
import { renderConfirmationMail } from './confirmation-mail.ts';
import type { SubscriberFacts } from './facts.ts';
import { lockMailbox } from './mailbox-limit.ts';
import {
  countConfirmationMails,
  recordConfirmationMailed,
  upsertConfirmation,
  type Confirmation,
} from './queries/confirmations.ts';
import { findSubscriber, recordConfirmationOutcome } from './queries/subscribers.ts';
import { CONFIRMATION_HOURS, decideMail } from './rules/subscription.ts';

export interface ConfirmationDependencies extends SenderSettings {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  readonly mail: MailTransport | null;
  readonly metrics: { countMail(mail: string, outcome: SendResult['outcome']): void };
  readonly pool: Pool;
  readonly vault: Pick<Vault, 'hashText' | 'previous' | 'seal'>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Sends the e-mail that asks the owner of an address to confirm the subscription, when `decideMail` allows it. Retries for
 * the same request send the same link and Message-ID.
 * @throws Error when the relay may accept the e-mail later
 */
export async function sendConfirmation(
  deps: ConfirmationDependencies,
  { addressHash }: { readonly addressHash: string },
  signal?: AbortSignal,
): Promise<void> {
  const { clock, pool } = deps;
  const now = clock.now();
  const subscriber = await findSubscriber(pool, addressHash);
  if (subscriber === null) return;
  const dayAgo = new Date(now.getTime() - DAY_MS);
  const mails = await countConfirmationMails(pool, addressHash, dayAgo);
  const decision = decideMail(subscriber, mails, now);
  if (decision === 'none') return;
  if (decision === 'send') return sendLink(deps, addressHash, subscriber, signal);
  const later = { payload: { addressHash }, key: addressHash, runAt: decision.notBefore };
  await addJobs(pool, [{ name: 'send_confirmation', ...later }]);
}

async function sendLink(
  deps: ConfirmationDependencies,
  addressHash: string,
  subscriber: SubscriberFacts,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { mail, metrics, pool, vault } = deps;
  const { email, subscribedAt: requestedAt } = subscriber;
  const token = createConfirmationToken(vault, addressHash, requestedAt);
  const tokenHash = hashConfirmationToken(token);
  if (email === null || tokenHash === null) return;
  if (mail === null) throw new Error('mail is not configured');

  const link = { tokenHash, addressHash, requestedAt, email };
  if (!(await storeLink(deps, link))) {
    return recordConfirmationOutcome(pool, addressHash, null, MAILBOX_LIMIT);
  }
  const message = createMessage(deps, email, subscriber.language ?? 'en', token);
  const result = await mail.send(message, signal);
  metrics.countMail('confirmation', result.outcome);
  const recipient = { addressHash, tokenHash, subscriberId: subscriber.id };
  await recordResult(deps, recipient, result);
}

/** Stores a link; returns false if its mailbox got as many e-mails in a day as allowed. */
async function storeLink(
  { clock, pool, vault }: ConfirmationDependencies,
  { email, ...link }: Omit<Confirmation, 'expiresAt'> & { readonly email: string },
): Promise<boolean> {
  const now = clock.now();
  const expiresAt = new Date(now.getTime() + CONFIRMATION_HOURS * HOUR_MS);
  return inTransaction(pool, async (db) => {
    const { mailboxHash, waitSeconds } = await lockMailbox(db, vault, email, link.tokenHash, now);
    if (waitSeconds > 0) return false;
    await upsertConfirmation(db, { ...link, expiresAt, mailboxHash, attemptedAt: now });
    return true;
  });
}

/** The problem of a subscriber whose mailbox got too many e-mails; the owner can subscribe again a day later. */
const MAILBOX_LIMIT = 'mailbox_limit';

const TOKEN_DIGITS = 32;

function createMessage(
  deps: ConfirmationDependencies,
  email: string,
  language: NonNullable<SubscriberFacts['language']>,
  token: string,
): MailMessage {
  const { config, vault } = deps;
  return {
    ...renderConfirmationMail(language, {
      sender: nameSender(deps),
      email,
      confirmUrl: `${config.http.publicUrl}/s/${token}`,
      unsubscribeUrl: createUnsubscribeUrl(deps, email),
    }),
    to: { address: email, name: null },
    messageToken: `confirm-${vault.hashText('confirmation-mail', token).slice(-TOKEN_DIGITS)}`,
    headers: { ...createUnsubscribeHeaders(deps, email), 'Content-Language': language },
  };
}

interface ConfirmationRecipient {
  readonly addressHash: string;
  readonly tokenHash: string;
  readonly subscriberId: string;
}

async function recordResult(
  { clock, log, pool }: ConfirmationDependencies,
  { addressHash, tokenHash, subscriberId }: ConfirmationRecipient,
  result: SendResult,
): Promise<void> {
  // An unconfirmed e-mail counts as sent: a recipient who did not receive it can subscribe again.
  if (result.outcome === 'sent' || result.outcome === 'unknown') {
    const now = clock.now();
    await recordConfirmationMailed(pool, tokenHash, now);
    return recordConfirmationOutcome(pool, addressHash, now, null);
  }
  const { outcome, reason } = result;
  await recordConfirmationOutcome(pool, addressHash, null, reason);
  if (outcome === 'temporary') throw new Error(`mail relay did not accept the e-mail: ${reason}`);
  log.warn(
    { event: 'subscribers.confirmation_rejected', reason, subscriberId },
    'mail relay rejected confirmation e-mail permanently',
  );
}
