import { setTimeout as sleep } from 'node:timers/promises';

import type { MailMessage, MailTransport, SendResult } from '#server/mail/mail-transport.ts';

import {
  failed,
  isDeferred,
  isRelayFailure,
  toOutcome,
  UNKNOWN,
  type MessageOutcome,
} from './message-outcome.ts';
import type { RequestEnd } from './outreach-limiter.ts';
import type { MessageEnd } from './queries/messages.ts';

/** Stores the progress of messages, so that few are unknown after the process was killed. */
export interface DeliveryJournal {
  /** Stores that messages are being sent; returns those that no other process has started. */
  begin(positions: readonly number[]): Promise<ReadonlySet<number>>;
  end(ends: readonly MessageEnd[]): Promise<void>;
}

/** Returns those of the messages whose recipient is suppressed now. */
export type FindSuppressed = (positions: readonly number[]) => Promise<ReadonlySet<number>>;

export interface DeliveryOptions {
  readonly transport: Pick<MailTransport, 'send'>;
  readonly journal: DeliveryJournal;
  /** Called right before sending, because the request may be minutes or hours old. */
  readonly findSuppressed: FindSuppressed;
  readonly createMessage: (position: number) => MailMessage;
  readonly end: RequestEnd;
  readonly retryPauseMs: number;
  readonly observe: (result: SendResult) => void;
}

export interface Delivery {
  /** One for each position. */
  readonly outcomes: ReadonlyMap<number, MessageOutcome>;
  /** The error, other than of the relay, that prevented sending the rest, such as an unavailable database; or null. */
  readonly failure: unknown;
}

/** As many as the connections of the transport. */
export const CONCURRENT_MESSAGES = 5;

/** Messages that one worker starts together: at most this many per worker are unknown after the process was killed. */
const BATCH_SIZE = 5;

/** After this many consecutive failures of the relay itself, such as a wrong login, the rest is not sent. */
const MAX_RELAY_FAILURES = 5;

/**
 * Sends messages concurrently, and retries those that the relay deferred once. A message is sent only after it was
 * stored as started, and never to a suppressed address. Never throws.
 * @param positions of waiting messages
 */
export async function deliverMessages(
  positions: readonly number[],
  options: DeliveryOptions,
): Promise<Delivery> {
  const run = new DeliveryRun(positions, options);
  await run.finish();
  return run;
}

class DeliveryRun implements Delivery {
  readonly outcomes = new Map<number, MessageOutcome>();
  failure: unknown = null;
  readonly #options: DeliveryOptions;
  readonly #positions: readonly number[];
  #deferred: number[] = [];
  #relayFailures = 0;
  /** The error code of the remaining messages, once no more are started. */
  #stopReason: string | null = null;

  constructor(positions: readonly number[], options: DeliveryOptions) {
    this.#positions = positions;
    this.#options = options;
  }

  async finish(): Promise<void> {
    await this.#inParallel([...this.#positions], (batch) => this.#sendNew(batch));
    const deferred = this.#deferred.splice(0);
    if (deferred.length > 0) {
      await this.#pause();
      await this.#inParallel(deferred, (batch) => this.#sendAgain(batch));
    }
    await this.#endRest();
  }

  /** Workers take batches from the queue until it is empty or the delivery ends. */
  async #inParallel(
    queue: number[],
    sendBatch: (batch: readonly number[]) => Promise<void>,
  ): Promise<void> {
    const runWorker = async (): Promise<void> => {
      while (queue.length > 0 && this.#endReason() === null) {
        await sendBatch(queue.splice(0, BATCH_SIZE));
      }
    };
    const workers = Array.from({ length: CONCURRENT_MESSAGES }, () =>
      runWorker().catch((error: unknown) => this.#fail(error)),
    );
    await Promise.all(workers);
    await this.#storeOutcomes(queue).catch((error: unknown) => this.#fail(error));
  }

  async #sendNew(batch: readonly number[]): Promise<void> {
    const begun = await this.#options.journal.begin(batch);
    const suppressed = await this.#options.findSuppressed(batch);
    for (const position of batch) {
      const reason = this.#endReason();
      if (!begun.has(position)) this.outcomes.set(position, UNKNOWN);
      else if (suppressed.has(position)) this.outcomes.set(position, failed('suppressed'));
      else if (reason !== null) this.outcomes.set(position, failed(reason));
      else if (isDeferred(await this.#send(position))) this.#deferred.push(position);
    }
    await this.#storeOutcomes(batch.filter((position) => !this.#deferred.includes(position)));
  }

  /** Without time for the second attempt, the outcome of the first one remains. */
  async #sendAgain(batch: readonly number[]): Promise<void> {
    const suppressed = await this.#options.findSuppressed(batch);
    for (const position of batch) {
      if (suppressed.has(position)) this.outcomes.set(position, failed('suppressed'));
      else if (this.#endReason() === null) await this.#send(position);
    }
    await this.#storeOutcomes(batch);
  }

  async #send(position: number): Promise<SendResult> {
    const { transport, createMessage, end, observe } = this.#options;
    const result = await transport.send(createMessage(position), end.signal);
    observe(result);
    this.outcomes.set(position, this.#toOutcome(result));
    this.#relayFailures = isRelayFailure(result) ? this.#relayFailures + 1 : 0;
    if (this.#relayFailures >= MAX_RELAY_FAILURES && result.outcome !== 'sent') {
      this.#stopReason ??= result.reason;
    }
    return result;
  }

  /** The transport knows only that the sending was ended, not that the service stops. */
  #toOutcome(result: SendResult): MessageOutcome {
    const outcome = toOutcome(result);
    return outcome.error === 'deadline' ? failed(this.#options.end.reason()) : outcome;
  }

  async #storeOutcomes(positions: readonly number[]): Promise<void> {
    const ends = positions.flatMap((position) => {
      const outcome = this.outcomes.get(position);
      return outcome === undefined ? [] : [{ position, ...outcome }];
    });
    await this.#options.journal.end(ends);
  }

  async #endRest(): Promise<void> {
    const rest = this.#positions.filter((position) => !this.outcomes.has(position));
    const reason = this.#endReason() ?? 'interrupted';
    for (const position of rest) this.outcomes.set(position, failed(reason));
    await this.#storeOutcomes(rest).catch((error: unknown) => this.#fail(error));
  }

  #endReason(): string | null {
    if (this.#stopReason !== null) return this.#stopReason;
    return this.#options.end.signal.aborted ? this.#options.end.reason() : null;
  }

  async #pause(): Promise<void> {
    const { retryPauseMs, end } = this.#options;
    // An abort is not a failure: the workers check for it.
    await sleep(retryPauseMs, undefined, { signal: end.signal }).catch(() => {});
  }

  #fail(error: unknown): void {
    this.failure ??= error;
    this.#stopReason ??= 'interrupted';
  }
}
