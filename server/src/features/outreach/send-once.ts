import { setTimeout as sleep } from 'node:timers/promises';

import { v7 as makeUuid } from 'uuid';

import { idempotencyKeyReused, overloaded } from '#server/errors.ts';
import type { KeyedHashes } from '#server/lib/vault.ts';

import { UNKNOWN, type EndedMessage } from './message-outcome.ts';
import type { OutreachContext, OutreachMessage, OutreachWork } from './outreach-request.ts';
import { prepareMessages } from './prepare-messages.ts';
import {
  findIdempotencyKey,
  keepIdempotencyKey,
  moveIdempotencyKey,
  recordAnswer,
  retakeIdempotencyKey,
  takeIdempotencyKey,
  type IdempotencyKeyName,
} from './queries/idempotency-keys.ts';
import { endMessages, listMessages } from './queries/messages.ts';
import { readOutcome, sendMessages } from './send-messages.ts';

/** How long an answer is kept. */
export const ANSWER_KEPT_MS = 24 * 60 * 60_000;

/** How often whoever sends says that he is at it, and after what silence he is gone. */
const SIGN_OF_LIFE_INTERVAL_MS = 4_000;
const ABANDONED_AFTER_MS = 20_000;

const POLL_INTERVAL_MS = 250;
const RETRY_AFTER_SECONDS = 30;

/** The key of the settings has no id. */
const CONFIGURED_KEY = 'configured';

interface KeyedWork extends OutreachWork {
  readonly key: IdempotencyKeyName;
  readonly bodyHash: string;
}

/** What to do for a request that came with a key. */
type Turn =
  | { readonly kind: 'send' | 'resume' | 'answer'; readonly requestId: string }
  | { readonly kind: 'wait' };

/**
 * Sends a request at most once for each key. One that comes again is answered with what is stored; while the first is under
 * way, it waits. When the process that sent it is gone, those messages are sent that were not begun, and those that were
 * begun and not ended are unknown.
 */
export async function sendOnce(
  ctx: OutreachContext,
  work: OutreachWork,
  idempotencyKey: string,
): Promise<EndedMessage[]> {
  const keyed = { ...work, ...hashRequest(ctx.vault, work, idempotencyKey) };
  for (const hashes of ctx.vault.previous) {
    // Stored under a previous master secret: without this, the request would be sent again.
    const { key, bodyHash } = hashRequest(hashes, work, idempotencyKey);
    const from = { keyHash: key.keyHash, bodyHash };
    const to = { keyHash: keyed.key.keyHash, bodyHash: keyed.bodyHash };
    await ctx.databaseLimiter.run(() => moveIdempotencyKey(ctx.pool, key.apiKeyId, from, to));
  }
  for (;;) {
    const answer = await ctx.outreach.run(() => takeTurn(ctx, keyed));
    if (answer !== null) return answer;
    await waitForTheOther(work);
  }
}

/** Of the key and of what is asked for, neither of which is stored: keys may be made of addresses. */
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

/** Null: another one is sending this very request. */
async function takeTurn(ctx: OutreachContext, work: KeyedWork): Promise<EndedMessage[] | null> {
  const turn = await decideTurn(ctx, work);
  if (turn.kind === 'wait') return null;
  const { requestId } = turn;
  const stored = turn.kind === 'send' ? [] : await list(ctx, requestId);
  if (turn.kind === 'answer') {
    return work.recipients.map(({ email }, position) => toEnded(email, stored[position]));
  }
  const messages =
    stored.length > 0
      ? await closeDoubts(ctx, requestId, stored)
      : await prepareMessages(ctx, work, requestId);
  const showingLife = setInterval(
    () => void showLife(ctx, work.key, requestId),
    SIGN_OF_LIFE_INTERVAL_MS,
  );
  const ended = await sendMessages(ctx, work, requestId, messages).finally(() =>
    clearInterval(showingLife),
  );
  await noteAnswer(ctx, work.key, requestId);
  return ended;
}

function decideTurn(ctx: OutreachContext, { key, bodyHash }: KeyedWork): Promise<Turn> {
  const { databaseLimiter, pool, clock } = ctx;
  const now = clock.now();
  const before = (milliseconds: number): Date => new Date(now.getTime() - milliseconds);
  return databaseLimiter.run(async () => {
    const requestId = makeUuid();
    const claim = { bodyHash, requestId, now, expiredBefore: before(ANSWER_KEPT_MS) };
    if (await takeIdempotencyKey(pool, key, claim)) return { kind: 'send', requestId };
    const used = await findIdempotencyKey(pool, key);
    // It was deleted as too old between the two: the next turn takes it.
    if (used === null) return { kind: 'wait' };
    if (used.bodyHash !== bodyHash) throw idempotencyKeyReused();
    if (used.answeredAt !== null) return { kind: 'answer', requestId: used.requestId };
    const retaken = await retakeIdempotencyKey(pool, key, now, before(ABANDONED_AFTER_MS));
    return retaken ? { kind: 'resume', requestId: used.requestId } : { kind: 'wait' };
  });
}

function list(
  { databaseLimiter, pool }: OutreachContext,
  requestId: string,
): Promise<OutreachMessage[]> {
  return databaseLimiter.run(() => listMessages(pool, requestId));
}

/** Notes of messages that a process had begun and not ended that nobody knows what became of them. */
async function closeDoubts(
  { databaseLimiter, pool, clock }: OutreachContext,
  requestId: string,
  stored: readonly OutreachMessage[],
): Promise<OutreachMessage[]> {
  const ends = stored.flatMap(({ state }, position) =>
    state === 'sending' ? [{ position, ...UNKNOWN }] : [],
  );
  await databaseLimiter.run(() => endMessages(pool, requestId, ends, clock.now()));
  return stored.map((message) =>
    message.state === 'sending' ? { ...message, ...UNKNOWN } : message,
  );
}

/** Without it another process may go on beside this one; then each sends what the other has not begun. */
async function showLife(
  { databaseLimiter, pool, clock, log }: OutreachContext,
  key: IdempotencyKeyName,
  requestId: string,
): Promise<void> {
  try {
    await databaseLimiter.run(() => keepIdempotencyKey(pool, key, requestId, clock.now()));
  } catch (error) {
    log.warn({ err: error, outreachId: requestId }, 'that outreach is under way was not noted');
  }
}

/** When it cannot be noted, whoever asks again is answered from the messages all the same, only later. */
async function noteAnswer(
  { databaseLimiter, pool, clock, log }: OutreachContext,
  key: IdempotencyKeyName,
  requestId: string,
): Promise<void> {
  try {
    await databaseLimiter.run(() => recordAnswer(pool, key, requestId, clock.now()));
  } catch (error) {
    log.warn({ err: error, outreachId: requestId }, 'that outreach was answered was not noted');
  }
}

function toEnded(email: string, message: OutreachMessage | undefined): EndedMessage {
  if (message === undefined) throw new Error('an answer lacks one of its messages');
  return { email, messageId: message.messageId, ...readOutcome(message) };
}

/** @throws overloaded (503 with Retry-After) when the time of this request is over first */
async function waitForTheOther({ end }: OutreachWork): Promise<void> {
  try {
    await sleep(POLL_INTERVAL_MS, undefined, { signal: end.signal });
  } catch {
    throw overloaded(RETRY_AFTER_SECONDS);
  }
}
