import type { Context } from '#server/context.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';
import type { SendResult } from '#server/mail/mail-transport.ts';

import { nameSender } from '../suppressions/page-frame.ts';
import { makeUnsubscribeHeaders, makeUnsubscribeUrl } from '../suppressions/unsubscribe.ts';
import { writeConfirmationMail } from './confirmation-mail.ts';
import { hashConfirmationToken, makeConfirmationToken } from './confirm.ts';
import type { SubscriberFacts } from './facts.ts';
import {
  countConfirmationMails,
  recordConfirmationMailed,
  upsertConfirmation,
} from './queries/confirmations.ts';
import { findSubscriber, recordConfirmationMail } from './queries/subscribers.ts';
import { CONFIRMATION_HOURS, decideMail } from './rules/subscription.ts';

type MailContext = Pick<
  Context,
  'catalog' | 'clock' | 'config' | 'log' | 'mail' | 'metrics' | 'pool' | 'vault'
>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Asks the owner of an address to confirm that he wants news, where `decideMail` says so. The same request is asked about
 * with the same link and Message-ID, however often it is tried.
 * @throws Error when the relay did not take the mail and may later
 */
export async function sendConfirmation(
  ctx: MailContext,
  { addressHash }: { readonly addressHash: string },
  signal?: AbortSignal,
): Promise<void> {
  const { pool } = ctx;
  const now = ctx.clock.now();
  const subscriber = await findSubscriber(pool, addressHash);
  if (subscriber === null) return;
  const dayAgo = new Date(now.getTime() - DAY_MS);
  const mails = await countConfirmationMails(pool, addressHash, dayAgo);
  const decision = decideMail(subscriber, mails, now);
  if (decision === 'none') return;
  if (decision === 'send') return mailLink(ctx, addressHash, subscriber, signal);
  const again = { payload: { addressHash }, key: addressHash, runAt: decision.notBefore };
  await addJobs(pool, [{ name: 'send_confirmation', ...again }]);
}

async function mailLink(
  ctx: MailContext,
  addressHash: string,
  subscriber: SubscriberFacts,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { mail, pool, vault } = ctx;
  const { email, subscribedAt: requestedAt } = subscriber;
  const token = makeConfirmationToken(vault, addressHash, requestedAt);
  const tokenHash = hashConfirmationToken(token);
  if (email === null || tokenHash === null) return;
  if (mail === null) throw new Error('no mail is configured');

  const expiresAt = new Date(ctx.clock.now().getTime() + CONFIRMATION_HOURS * HOUR_MS);
  await upsertConfirmation(pool, { tokenHash, addressHash, requestedAt, expiresAt });
  const message = composeConfirmation(ctx, email, subscriber.language ?? 'en', token);
  const result = await mail.send(message, signal);
  ctx.metrics.countMail('confirmation', result.outcome);
  await record(ctx, { addressHash, tokenHash, subscriberId: subscriber.id }, result);
}

const TOKEN_DIGITS = 32;

function composeConfirmation(
  ctx: MailContext,
  email: string,
  language: NonNullable<SubscriberFacts['language']>,
  token: string,
) {
  return {
    ...writeConfirmationMail(language, {
      sender: nameSender(ctx),
      email,
      confirmUrl: `${ctx.config.http.publicUrl}/s/${token}`,
      unsubscribeUrl: makeUnsubscribeUrl(ctx, email),
    }),
    to: { address: email, name: null },
    messageToken: `confirm-${ctx.vault.hashText('confirmation-mail', token).slice(-TOKEN_DIGITS)}`,
    headers: { ...makeUnsubscribeHeaders(ctx, email), 'Content-Language': language },
  };
}

async function record(
  ctx: MailContext,
  about: {
    readonly addressHash: string;
    readonly tokenHash: string;
    readonly subscriberId: string;
  },
  result: SendResult,
): Promise<void> {
  const { addressHash, tokenHash, subscriberId } = about;
  const { pool } = ctx;
  // One that the relay has and does not answer for counts as sent: whoever misses it asks again.
  if (result.outcome === 'sent' || result.outcome === 'unknown') {
    const now = ctx.clock.now();
    await recordConfirmationMailed(pool, tokenHash, now);
    return recordConfirmationMail(pool, addressHash, now, null);
  }
  const { outcome, reason } = result;
  await recordConfirmationMail(pool, addressHash, null, reason);
  if (outcome === 'temporary') throw new Error(`the mail relay did not take it: ${reason}`);
  ctx.log.warn({ reason, subscriberId }, 'the mail relay refuses a confirmation mail for good');
}
