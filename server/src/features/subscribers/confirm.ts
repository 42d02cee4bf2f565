import type { Context } from '#server/context.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { liftUnsubscription } from '../suppressions/queries.ts';
import { hashConfirmationToken } from './confirmation-token.ts';
import type { SubscriberFacts } from './facts.ts';
import { findConfirmation, type Confirmation } from './queries/confirmations.ts';
import { confirmSubscriber, findSubscriber, lockAddress } from './queries/subscribers.ts';
import { decideConfirmation, type ConfirmationDecision } from './rules/decide-confirmation.ts';

/** What a link stands for, and whose it is. */
export interface ConfirmationView {
  readonly decision: ConfirmationDecision;
  /** Null when the link is void. */
  readonly email: string | null;
  readonly language: SubscriberFacts['language'];
}

type ConfirmContext = Pick<Context, 'clock' | 'databaseLimiter' | 'pool'>;

const VOID: ConfirmationView = { decision: 'void', email: null, language: null };

/** Tells what pressing the button of a link would do; changes nothing. */
export async function viewConfirmation(
  ctx: ConfirmContext,
  token: string,
): Promise<ConfirmationView> {
  const tokenHash = hashConfirmationToken(token);
  if (tokenHash === null) return VOID;
  return ctx.databaseLimiter.run(async () => {
    const link = await findConfirmation(ctx.pool, tokenHash);
    return link === null ? VOID : view(ctx.pool, link, ctx.clock.now());
  });
}

/**
 * Confirms what a link stands for. That it is confirmed from the mailbox is what lifts an unsubscription said before, and
 * nothing else does.
 * @returns what the link stood for: after `confirm` it is confirmed
 */
export async function confirmSubscription(
  ctx: ConfirmContext,
  token: string,
): Promise<ConfirmationView> {
  const tokenHash = hashConfirmationToken(token);
  if (tokenHash === null) return VOID;
  return ctx.databaseLimiter.run(() =>
    inTransaction(ctx.pool, async (db) => {
      const link = await findConfirmation(db, tokenHash);
      return link === null ? VOID : confirm(db, link, ctx.clock.now());
    }),
  );
}

async function confirm(db: Queryable, link: Confirmation, now: Date): Promise<ConfirmationView> {
  await lockAddress(db, link.addressHash);
  const before = await view(db, link, now);
  if (before.decision !== 'confirm') return before;
  await confirmSubscriber(db, link.addressHash, now);
  await liftUnsubscription(db, link.addressHash, link.requestedAt);
  return before;
}

async function view(db: Queryable, link: Confirmation, now: Date): Promise<ConfirmationView> {
  const subscriber = await findSubscriber(db, link.addressHash);
  const decision = decideConfirmation(link, subscriber, now);
  const language = subscriber?.language ?? null;
  return { decision, language, email: decision === 'void' ? null : (subscriber?.email ?? null) };
}
