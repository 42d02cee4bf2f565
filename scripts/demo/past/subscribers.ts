import { randomUUID } from 'node:crypto';

import {
  confirmSubscription,
  createConfirmationToken,
} from '#server/features/subscribers/confirm.ts';
import { sendConfirmation } from '#server/features/subscribers/send-confirmation.ts';
import { subscribe } from '#server/features/subscribers/subscribe.ts';
import { hashAddress } from '#server/features/suppressions/address-hash.ts';
import { createUnsubscribeToken, unsubscribe } from '#server/features/suppressions/unsubscribe.ts';
import { sendOutreach } from '#server/features/outreach/send-outreach.ts';

import type { Random } from '../random.ts';
import { DAY_MS, MINUTE_MS, runAt } from '../time.ts';
import { createPerson, type Person } from '../world/people.ts';
import { runTogether } from './run-actions.ts';
import type { Action, World } from './world.ts';

/** A confirmation mail is sent at once. */
const MAIL_DELAY_MS = 1_500;

/** Unconfirmed requests are removed after 30 days. */
const PENDING_DAYS = 29;

/** Fills the newsletter: people who confirmed, who have not yet, and who left again. */
export async function fillSubscribers(world: World, count: number): Promise<readonly Person[]> {
  const people = Array.from({ length: count }, (_, number) => ({
    isPending: number % 11 === 0,
    person: createPerson(world.random.fork(`subscriber ${number}`), 80_000 + number),
    random: world.random.fork(`newsletter ${number}`),
  }));
  await runTogether(
    people.map(({ isPending, person, random }) => {
      const days = isPending ? PENDING_DAYS : 400;
      const atMs = Math.floor(world.nowMs - random.next() ** 1.4 * days * DAY_MS - 30 * MINUTE_MS);
      return { atMs, run: () => join(world, person, atMs, random, isPending) };
    }),
  );
  await world.context.pool.query(`delete from jobs where name = 'send_confirmation'`);
  return people.map(({ person }) => person);
}

async function join(
  { context, nowMs }: World,
  { email, locale }: Person,
  atMs: number,
  random: Random,
  isPending: boolean,
): Promise<void> {
  await subscribe(context, email, locale);
  const addressHash = hashAddress(context.vault, email);
  await runAt(atMs + MAIL_DELAY_MS, () => mail(context, addressHash));
  if (isPending) return;
  const confirmedMs = atMs + Math.min(random.exponential(40) * MINUTE_MS, DAY_MS) + MINUTE_MS;
  const token = createConfirmationToken(context.vault, addressHash, new Date(atMs));
  await runAt(Math.min(confirmedMs, nowMs), () => confirmSubscription(context, token));
  const leftMs = confirmedMs + random.exponential(900) * DAY_MS;
  if (leftMs >= nowMs) return;
  await runAt(leftMs, () => unsubscribe(context, createUnsubscribeToken(context.vault, email)));
}

/** The relay of some addresses is busy, and the service tries again later. */
async function mail(context: World['context'], addressHash: string): Promise<void> {
  try {
    await sendConfirmation(context, { addressHash });
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes('relay')) throw error;
  }
}

/** A program that sends offers by the interface, as an API key allows. */
export function listOutreach({ context, nowMs, plans }: World): Action[] {
  const recipients = plans.sales
    .filter(({ person, sale }) => person.language === 'de' && sale.plan.product === 'home')
    .slice(0, 130)
    .map(({ person: { email, name } }) => ({ email, name }));
  const call = {
    apiKeyId: null,
    idempotencyKey: `offer-${randomUUID()}`,
    request: { template: 'sellers' as const, language: 'de' as const, recipients },
  };
  return [{ atMs: nowMs - 12.2 * DAY_MS, run: () => sendOutreach(context, call) }];
}
