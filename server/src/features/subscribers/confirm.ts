import { hash } from 'node:crypto';

import type { Context } from '#server/context.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import type { Vault } from '#server/lib/vault.ts';

import { liftUnsubscription } from '../suppressions/queries.ts';
import type { SubscriberFacts } from './facts.ts';
import { findConfirmation, type Confirmation } from './queries/confirmations.ts';
import { confirmSubscriber, findSubscriber, lockAddress } from './queries/subscribers.ts';
import { decideConfirmation, type ConfirmationDecision } from './rules/subscription.ts';

/**
 * The token of the link that confirms what was asked for at this moment: 256 bits that nobody can make without the master
 * secret. It is made again when the mail is tried again, so that the link of each try works.
 */
export function makeConfirmationToken(
  vault: Pick<Vault, 'hashText'>,
  addressHash: string,
  requestedAt: Date,
): string {
  const digits = vault.hashText('confirmation', `${addressHash} ${requestedAt.toISOString()}`);
  return Buffer.from(digits, 'hex').toString('base64url');
}

/** What a token is found by: its SHA-256 in hexadecimal digits. Null for what is no token. */
export function hashConfirmationToken(token: string): string | null {
  return /^[\w-]{43}$/u.test(token) ? hash('sha256', token, 'hex') : null;
}

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
