import { hash } from 'node:crypto';

import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';
import type { Vault } from '#server/lib/vault.ts';

import { liftUnsubscription, lockAddress } from '../suppressions/queries/suppressions.ts';
import type { SubscriberFacts } from './facts.ts';
import { findConfirmation, type Confirmation } from './queries/confirmations.ts';
import { confirmSubscriber, findSubscriber } from './queries/subscribers.ts';
import { decideConfirmation, type ConfirmationDecision } from './rules/subscription.ts';

/**
 * Returns the token of a confirmation link: 256 bits, derived from the address and the request by the master secret. A
 * retry derives the same token, so that the links of all e-mails for one request work.
 */
export function createConfirmationToken(
  vault: Pick<Vault, 'hashText'>,
  addressHash: string,
  requestedAt: Date,
): string {
  const digits = vault.hashText('confirmation', `${addressHash} ${requestedAt.toISOString()}`);
  return Buffer.from(digits, 'hex').toString('base64url');
}

/** Returns the stored form of a token: its SHA-256 in hexadecimal digits. Null for a malformed token. */
export function hashConfirmationToken(token: string): string | null {
  return /^[\w-]{43}$/u.test(token) ? hash('sha256', token, 'hex') : null;
}

/** The effect of a confirmation link, and its address. */
export interface ConfirmationView {
  readonly decision: ConfirmationDecision;
  /** Null when the link is void. */
  readonly email: string | null;
  readonly language: SubscriberFacts['language'];
}

export interface ConfirmDependencies {
  readonly clock: Clock;
  readonly databaseLimiter: ConcurrencyLimiter;
  readonly pool: Pool;
}

const VOID: ConfirmationView = { decision: 'void', email: null, language: null };

/** Returns the effect that the button of a link would have, without changing anything. */
export async function viewConfirmation(
  { clock, databaseLimiter, pool }: ConfirmDependencies,
  token: string,
): Promise<ConfirmationView> {
  const tokenHash = hashConfirmationToken(token);
  if (tokenHash === null) return VOID;
  return databaseLimiter.run(async () => {
    const link = await findConfirmation(pool, tokenHash);
    return link === null ? VOID : view(pool, link, clock.now());
  });
}

/**
 * Confirms the subscription of a link, and lifts an earlier unsubscription: only a confirmation from the mailbox may.
 * @returns the effect of the link: after `confirm` the subscriber is confirmed
 */
export async function confirmSubscription(
  { clock, databaseLimiter, pool }: ConfirmDependencies,
  token: string,
): Promise<ConfirmationView> {
  const tokenHash = hashConfirmationToken(token);
  if (tokenHash === null) return VOID;
  return databaseLimiter.run(() =>
    inTransaction(pool, async (db) => {
      const link = await findConfirmation(db, tokenHash);
      return link === null ? VOID : confirm(db, link, clock.now());
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
