import type { Pool } from 'pg';
import type { Logger } from 'pino';

import type { Clock } from '#server/clock.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';
import type { Vault } from '#server/lib/vault.ts';
import type { MailMessage, MailTransport, SendResult } from '#server/mail/mail-transport.ts';

import { nameSender, type SenderSettings } from '../suppressions/page-frame.ts';
import { createUnsubscribeHeaders, createUnsubscribeUrl } from '../suppressions/unsubscribe.ts';
import { createConfirmationToken, hashConfirmationToken } from './confirm.ts';
import { renderConfirmationMail } from './confirmation-mail.ts';
import type { SubscriberFacts } from './facts.ts';
import {
  countConfirmationMails,
  recordConfirmationMailed,
  upsertConfirmation,
} from './queries/confirmations.ts';
import { findSubscriber, recordConfirmationOutcome } from './queries/subscribers.ts';
import { CONFIRMATION_HOURS, decideMail } from './rules/subscription.ts';

export interface ConfirmationDependencies extends SenderSettings {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  readonly mail: MailTransport | null;
  readonly metrics: { countMail(mail: string, outcome: SendResult['outcome']): void };
  readonly pool: Pool;
  readonly vault: Pick<Vault, 'hashText' | 'seal'>;
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
  const { clock, mail, metrics, pool, vault } = deps;
  const { email, subscribedAt: requestedAt } = subscriber;
  const token = createConfirmationToken(vault, addressHash, requestedAt);
  const tokenHash = hashConfirmationToken(token);
  if (email === null || tokenHash === null) return;
  if (mail === null) throw new Error('mail is not configured');

  const expiresAt = new Date(clock.now().getTime() + CONFIRMATION_HOURS * HOUR_MS);
  await upsertConfirmation(pool, { tokenHash, addressHash, requestedAt, expiresAt });
  const message = createMessage(deps, email, subscriber.language ?? 'en', token);
  const result = await mail.send(message, signal);
  metrics.countMail('confirmation', result.outcome);
  const recipient = { addressHash, tokenHash, subscriberId: subscriber.id };
  await recordResult(deps, recipient, result);
}

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
