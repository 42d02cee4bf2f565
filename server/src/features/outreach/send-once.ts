import { setTimeout as sleep } from 'node:timers/promises';

import { v7 as createUuid } from 'uuid';

import { idempotencyKeyReused, overloaded } from '#server/errors.ts';
import type { KeyedHashes } from '#server/lib/vault.ts';

import { UNKNOWN, type EndedMessage } from './message-outcome.ts';
import type { OutreachDependencies } from './dependencies.ts';
import type { OutreachWork, StoredRequest } from './outreach-request.ts';
import { prepareMessages } from './prepare-messages.ts';
import {
  claimAbandonedKey,
  claimIdempotencyKey,
  findIdempotencyKey,
  recordAnswer,
  renewLease,
  rewriteIdempotencyKey,
  type IdempotencyKeyName,
} from './queries/idempotency-keys.ts';
import { endMessages, listMessages, type StoredMessage } from './queries/messages.ts';
import { sendMessages, storedOutcome } from './send-messages.ts';

/** How long a repeated request receives the stored response. */
export const ANSWER_KEPT_MS = 24 * 60 * 60_000;

/** The process that sends a request renews its lease; after the expiry another process resumes the request. */
const LEASE_RENEWAL_MS = 4_000;
const LEASE_EXPIRY_MS = 20_000;

const POLL_INTERVAL_MS = 250;
const RETRY_AFTER_SECONDS = 30;

/** Identifies the API key in the settings, which has no id. */
const CONFIGURED_KEY = 'configured';

interface KeyedWork extends OutreachWork {
  readonly key: IdempotencyKeyName;
  readonly bodyHash: string;
}

/** The next step of a request with an idempotency key. */
type NextStep =
  | { readonly kind: 'send' | 'resume' | 'answer'; readonly requestId: string }
  | { readonly kind: 'wait' };

/**
 * Sends a request at most once per idempotency key. A repeated request returns the stored outcomes; while the first one
 * is being sent, it waits for them. When the process that sent it was killed, it sends the waiting messages; those that
 * were started without an outcome are unknown.
 */
export async function sendOnce(
  deps: OutreachDependencies,
  work: OutreachWork,
  idempotencyKey: string,
): Promise<EndedMessage[]> {
  const { databaseLimiter, outreach, pool, vault } = deps;
  const keyed = { ...work, ...hashRequest(vault, work, idempotencyKey) };
  for (const hashes of vault.previous) {
    // Otherwise a request stored under a previous master secret would be sent again.
    const { key, bodyHash } = hashRequest(hashes, work, idempotencyKey);
    const from = { keyHash: key.keyHash, bodyHash };
    const to = { keyHash: keyed.key.keyHash, bodyHash: keyed.bodyHash };
    await databaseLimiter.run(() => rewriteIdempotencyKey(pool, key.apiKeyId, from, to));
  }
  for (;;) {
    const answer = await outreach.run(() => runNextStep(deps, keyed));
    if (answer !== null) return answer;
    await waitForOther(work);
  }
}

/** Hashes the key and the request, which are not stored: keys may contain addresses. */
function hashRequest(
  hashes: Pick<KeyedHashes, 'hashText'>,
  { apiKeyId, recipients, request: { template, language = 'en' } }: OutreachWork,
  idempotencyKey: string,
): { key: IdempotencyKeyName; bodyHash: string } {
  const people = recipients.map(({ email, name }) => [email, name]);
  return {
    key: {
      apiKeyId: apiKeyId ?? CONFIGURED_KEY,
      keyHash: hashes.hashText('idempotency-key', idempotencyKey),
    },
    bodyHash: hashes.hashText('outreach-body', JSON.stringify([template, language, people])),
  };
}

/** Sends or answers the request; returns null while another process or call is sending it. */
async function runNextStep(
  deps: OutreachDependencies,
  work: KeyedWork,
): Promise<EndedMessage[] | null> {
  const { databaseLimiter, pool } = deps;
  const step = await decideNextStep(deps, work);
  if (step.kind === 'wait') return null;
  const { requestId } = step;
  const messages =
    step.kind === 'send' ? [] : await databaseLimiter.run(() => listMessages(pool, requestId));
  if (step.kind === 'answer') {
    return work.recipients.map(({ email }, position) => toEnded(email, messages[position]));
  }
  const stored =
    messages.length > 0
      ? await markInterruptedAsUnknown(deps, { requestId, messages })
      : await prepareMessages(deps, work, requestId);
  return sendUnderLease(deps, work, stored);
}

async function sendUnderLease(
  deps: OutreachDependencies,
  work: KeyedWork,
  stored: StoredRequest,
): Promise<EndedMessage[]> {
  const { databaseLimiter, pool, clock, log } = deps;
  const { requestId } = stored;
  const update = async (
    write: typeof renewLease,
    event: string,
    failure: string,
  ): Promise<void> => {
    try {
      await databaseLimiter.run(() => write(pool, work.key, requestId, clock.now()));
    } catch (error) {
      log.warn({ event, outreachId: requestId, err: error }, failure);
    }
  };
  // After the expiry another process may send too: only one of them starts each message.
  const renewal = setInterval(
    () =>
      void update(renewLease, 'outreach.lease_renewal_failed', 'could not renew outreach lease'),
    LEASE_RENEWAL_MS,
  );
  const ended = await sendMessages(deps, work, stored).finally(() => clearInterval(renewal));
  // After a failure a repeated request is answered too, but only when the lease expired.
  await update(recordAnswer, 'outreach.answer_not_recorded', 'could not record outreach answer');
  return ended;
}

function decideNextStep(
  { databaseLimiter, pool, clock }: OutreachDependencies,
  { key, bodyHash }: KeyedWork,
): Promise<NextStep> {
  const now = clock.now();
  const before = (milliseconds: number): Date => new Date(now.getTime() - milliseconds);
  return databaseLimiter.run(async () => {
    const requestId = createUuid();
    const claim = { bodyHash, requestId, now, expiredBefore: before(ANSWER_KEPT_MS) };
    if (await claimIdempotencyKey(pool, key, claim)) return { kind: 'send', requestId };
    const used = await findIdempotencyKey(pool, key);
    // It was deleted as too old between the two statements: the next step claims it.
    if (used === null) return { kind: 'wait' };
    if (used.bodyHash !== bodyHash) throw idempotencyKeyReused();
    if (used.answeredAt !== null) return { kind: 'answer', requestId: used.requestId };
    const claimed = await claimAbandonedKey(pool, key, now, before(LEASE_EXPIRY_MS));
    return claimed ? { kind: 'resume', requestId: used.requestId } : { kind: 'wait' };
  });
}

/** Stores the messages that a killed process had started as unknown, so that they are not sent again. */
async function markInterruptedAsUnknown(
  { databaseLimiter, pool, clock }: OutreachDependencies,
  { requestId, messages }: StoredRequest,
): Promise<StoredRequest> {
  const ends = messages.flatMap(({ state }, position) =>
    state === 'sending' ? [{ position, ...UNKNOWN }] : [],
  );
  await databaseLimiter.run(() => endMessages(pool, requestId, ends, clock.now()));
  return {
    requestId,
    messages: messages.map((message) =>
      message.state === 'sending' ? { ...message, ...UNKNOWN } : message,
    ),
  };
}

function toEnded(email: string, message: StoredMessage | undefined): EndedMessage {
  if (message === undefined) throw new Error('a stored request lacks a message');
  return { email, messageId: message.messageId, ...storedOutcome(message) };
}

/** @throws overloaded (503 with Retry-After) at the deadline of this request */
async function waitForOther({ end }: OutreachWork): Promise<void> {
  try {
    await sleep(POLL_INTERVAL_MS, undefined, { signal: end.signal });
  } catch {
    throw overloaded(RETRY_AFTER_SECONDS);
  }
}
