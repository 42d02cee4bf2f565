import { inTransaction } from '#server/db/transaction.ts';
import { isDatabaseUnavailable } from '#server/db/database-errors.ts';
import type { JobPayload } from '#server/jobs/job-definitions.ts';

import type { BillingDependencies } from './dependencies.ts';
import { recordFailure } from './failed-events.ts';
import { gumroadAdapter } from './providers/gumroad/adapter.ts';
import {
  readQuestion,
  toLookUpBodies,
  type LookedUp,
  type Question,
} from './providers/gumroad/look-up.ts';
import { ProviderApiError } from './providers/provider-api.ts';
import { findEvent, type StoredEventRecord } from './queries/event-list.ts';
import { updateEventOutcomes } from './queries/events.ts';
import { queueEventLookUps } from './queue-jobs.ts';
import { processEvent } from './receive-webhook.ts';
import type { Receipt } from './received-event.ts';
import { DISMISSED_PREFIX } from './rules/event-state.ts';

/** Why the provider cannot be asked, or has no answer. */
class LookUpError extends Error {}

/**
 * Asks the provider for the facts of a stored event that is not signed, and applies the response as an event. An event that could
 * not be looked up is deferred with the reason, and asked for again later, like one that could not be applied.
 * @throws if the database is unavailable, or the process stops
 */
export async function lookUpEvent(
  deps: BillingDependencies,
  key: JobPayload<'look_up_event'>,
  signal?: AbortSignal,
): Promise<void> {
  const event = await findEvent(deps.pool, key.provider, key.eventId);
  if (event === null || event.raw === null || isDismissed(event)) return;
  try {
    await applyLookUp(deps, event, event.raw, signal);
    const outcome = { ...event, status: 'processed', message: null, nextAttemptAt: null } as const;
    await updateEventOutcomes(deps.pool, [outcome]);
  } catch (error) {
    if (isDatabaseUnavailable(error) || signal?.aborted === true) throw error;
    await deferEvent(deps, event, error);
  }
}

function isDismissed({ status, message }: StoredEventRecord): boolean {
  return status === 'ignored' && message?.startsWith(DISMISSED_PREFIX) === true;
}

async function applyLookUp(
  deps: BillingDependencies,
  event: StoredEventRecord,
  raw: Buffer,
  signal?: AbortSignal,
): Promise<void> {
  const question = readQuestion(event, JSON.parse(raw.toString()));
  await applyAnswer(deps, question, signal);
}

/** An event that contains what the provider returned, and its outcome. */
export interface AppliedAnswer {
  readonly eventId: string;
  readonly type: string;
  readonly status: Receipt['status'];
}

/**
 * Asks the provider, and applies the response as events.
 * @throws if the provider cannot be asked, or has no answer
 */
export async function applyAnswer(
  deps: BillingDependencies,
  question: Question,
  signal?: AbortSignal,
): Promise<AppliedAnswer[]> {
  const askedAt = deps.clock.now();
  const answer = await ask(deps, question, signal);
  const applied: AppliedAnswer[] = [];
  for (const body of toLookUpBodies(question, answer, askedAt)) {
    const delivery = { headers: {}, rawBody: Buffer.from(JSON.stringify(body)) };
    // The response decides whether it is of the test mode, not the source of the ping.
    const { status } = await processEvent(deps, gumroadAdapter, delivery, body);
    deps.metrics.countPaymentEvent(gumroadAdapter.provider, status);
    applied.push({ eventId: body.event_id, type: body.resource_name, status });
  }
  return applied;
}

/** A sale of a membership is looked up together with its state. */
async function ask(
  { gumroadApi }: BillingDependencies,
  { saleId, subscriptionId }: Question,
  signal?: AbortSignal,
): Promise<LookedUp> {
  if (gumroadApi === null) {
    throw new LookUpError('LATCHKEY_GUMROAD_ACCESS_TOKEN is not set, so Gumroad cannot be asked.');
  }
  const sale = saleId === null ? null : await gumroadApi.findSale(saleId, signal);
  const subscriber =
    subscriptionId === null ? null : await gumroadApi.findSubscriber(subscriptionId, signal);
  const isFound = saleId === null ? subscriber !== null : sale !== null;
  if (!isFound) {
    throw new LookUpError('The account of LATCHKEY_GUMROAD_ACCESS_TOKEN has no such sale.');
  }
  return { sale, subscriber, seller: await gumroadApi.findSeller(signal) };
}

/** A rate limit is not counted as an attempt. */
async function deferEvent(
  deps: BillingDependencies,
  event: StoredEventRecord,
  cause: unknown,
): Promise<void> {
  const now = deps.clock.now();
  const { eventId, provider } = event;
  if (cause instanceof ProviderApiError && cause.retryAfterSeconds !== null) {
    const runAt = new Date(now.getTime() + cause.retryAfterSeconds * 1_000);
    return queueEventLookUps(deps.pool, [event], runAt);
  }
  const { status } = await inTransaction(deps.pool, (client) =>
    recordFailure(client, event, event.attempts + 1, cause, now),
  );
  const fields = { event: 'payments.look_up_failed', err: cause, eventId, provider, status };
  deps.log.error(fields, 'could not look up payment event');
}
