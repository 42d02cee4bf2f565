import { setTimeout as sleep } from 'node:timers/promises';

import type { MailMessage, MailTransport, SendResult } from '#server/mail/mail-transport.ts';

import {
  isDeferred,
  isRelayFailure,
  failed,
  toOutcome,
  UNKNOWN,
  type MessageOutcome,
} from './message-outcome.ts';
import type { RequestEnd } from './outreach-limiter.ts';
import type { MessageEnd } from './queries/messages.ts';

/** Where it is written down how far messages are, so that a process that is killed leaves few in doubt. */
export interface DeliveryJournal {
  /** Notes that messages are about to be sent; gives those that nobody else has begun. */
  begin(positions: readonly number[]): Promise<ReadonlySet<number>>;
  end(ends: readonly MessageEnd[]): Promise<void>;
}

/** Which of these messages are for somebody who wants no mail by now. */
export type SuppressionCheck = (positions: readonly number[]) => Promise<ReadonlySet<number>>;

export interface DeliveryOptions {
  readonly transport: Pick<MailTransport, 'send'>;
  readonly journal: DeliveryJournal;
  /** Asked right before sending: minutes or hours may have passed since the request came. */
  readonly findSuppressed: SuppressionCheck;
  readonly write: (position: number) => MailMessage;
  readonly end: RequestEnd;
  readonly retryPauseMs: number;
  readonly observe: (result: SendResult) => void;
}

export interface Delivery {
  /** One for each position that was given. */
  readonly outcomes: ReadonlyMap<number, MessageOutcome>;
  /** What kept the rest from being sent beside the relay and the time, such as a database that is away; null: nothing. */
  readonly failure: unknown;
}

const SUPPRESSED = failed('suppressed');

/** As many as the transport has connections. */
export const CONCURRENT_MESSAGES = 5;

/** Begun together by one worker. Each worker leaves at most so many in doubt when the process is killed. */
const MESSAGES_PER_NOTE = 5;

/** So many refusals of the relay itself in a row, and the rest is not tried: a login that is wrong stays so. */
const MAX_RELAY_FAILURES = 5;

/**
 * Sends messages, several at once, and once more those that the relay put off. None is sent that is not noted as begun
 * before, nor to whom wants no mail by then. Never throws.
 * @param positions of messages that wait
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
  #putOff: number[] = [];
  #relayFailures = 0;
  /** Why no more are begun. */
  #givenUp: string | null = null;

  constructor(positions: readonly number[], options: DeliveryOptions) {
    this.#positions = positions;
    this.#options = options;
  }

  async finish(): Promise<void> {
    await this.#inParallel([...this.#positions], (slice) => this.#sendNew(slice));
    const putOff = this.#putOff.splice(0);
    if (putOff.length > 0) {
      await this.#pause();
      await this.#inParallel(putOff, (slice) => this.#sendAgain(slice));
    }
    await this.#endRest();
  }

  /** Workers take slices until none are left, or no more are to be begun. */
  async #inParallel(
    queue: number[],
    work: (slice: readonly number[]) => Promise<void>,
  ): Promise<void> {
    const takeSlices = async (): Promise<void> => {
      while (queue.length > 0 && this.#reasonToEnd() === null) {
        await work(queue.splice(0, MESSAGES_PER_NOTE));
      }
    };
    const workers = Array.from({ length: CONCURRENT_MESSAGES }, () =>
      takeSlices().catch((error: unknown) => this.#fail(error)),
    );
    await Promise.all(workers);
    await this.#note(queue).catch((error: unknown) => this.#fail(error));
  }

  async #sendNew(slice: readonly number[]): Promise<void> {
    const begun = await this.#options.journal.begin(slice);
    const suppressed = await this.#options.findSuppressed(slice);
    for (const position of slice) {
      const reason = this.#reasonToEnd();
      if (!begun.has(position)) this.outcomes.set(position, UNKNOWN);
      else if (suppressed.has(position)) this.outcomes.set(position, SUPPRESSED);
      else if (reason !== null) this.outcomes.set(position, failed(reason));
      else await this.#send(position, (result) => isDeferred(result));
    }
    await this.#note(slice.filter((position) => !this.#putOff.includes(position)));
  }

  /** The time may end before the second try: then what the relay said the first time stands. */
  async #sendAgain(slice: readonly number[]): Promise<void> {
    const suppressed = await this.#options.findSuppressed(slice);
    for (const position of slice) {
      if (suppressed.has(position)) this.outcomes.set(position, SUPPRESSED);
      else if (this.#reasonToEnd() === null) await this.#send(position, () => false);
    }
    await this.#note(slice);
  }

  async #send(position: number, mayPutOff: (result: SendResult) => boolean): Promise<void> {
    const { transport, write, end, observe } = this.#options;
    const result = await transport.send(write(position), end.signal);
    observe(result);
    if (mayPutOff(result)) this.#putOff.push(position);
    this.outcomes.set(position, toOutcome(result));
    this.#relayFailures = isRelayFailure(result) ? this.#relayFailures + 1 : 0;
    if (this.#relayFailures >= MAX_RELAY_FAILURES && result.outcome !== 'sent') {
      this.#givenUp ??= result.reason;
    }
  }

  async #note(positions: readonly number[]): Promise<void> {
    const ends = positions.flatMap((position) => {
      const outcome = this.outcomes.get(position);
      return outcome === undefined ? [] : [{ position, ...outcome }];
    });
    await this.#options.journal.end(ends);
  }

  async #endRest(): Promise<void> {
    const rest = this.#positions.filter((position) => !this.outcomes.has(position));
    const reason = this.#reasonToEnd() ?? 'interrupted';
    for (const position of rest) this.outcomes.set(position, failed(reason));
    await this.#note(rest).catch((error: unknown) => this.#fail(error));
  }

  #reasonToEnd(): string | null {
    if (this.#givenUp !== null) return this.#givenUp;
    return this.#options.end.signal.aborted ? this.#options.end.reason() : null;
  }

  async #pause(): Promise<void> {
    const { retryPauseMs, end } = this.#options;
    // The end of the time is no failure here: whoever goes on from here sees it.
    await sleep(retryPauseMs, undefined, { signal: end.signal }).catch(() => {});
  }

  #fail(error: unknown): void {
    this.failure ??= error;
    this.#givenUp ??= 'interrupted';
  }
}
