import type { MailTransport } from '#server/mail/mail-transport.ts';

import { listSuppressedAddresses } from '../../suppressions/stored-addresses.ts';
import { deliverMessages, type DeliveryJournal } from '../deliver-messages.ts';
import { isInterruption, isRelayError } from '../message-outcome.ts';
import { addOutcomes, type CampaignRecord, type OutcomeCounts } from '../queries/campaigns.ts';
import { beginMessages, endMessages, type MessageEnd } from '../queries/messages.ts';
import { postponeMessages, type DueMessage } from '../queries/recipients.ts';
import { createCampaignMail } from './create-message.ts';
import type { OutreachDependencies } from '../dependencies.ts';

/** How often a message is tried that the relay defers, or fails for while it accepts others. */
const MAX_ATTEMPTS = 10;

/** How long a deferred message waits, times its attempts: a relay that limits its rate accepts it later. */
const DEFERRAL_MS = 5 * 60_000;

/** @returns the error of the relay that prevents sending more, or null */
export async function sendSlice(
  deps: OutreachDependencies,
  campaign: CampaignRecord,
  due: readonly DueMessage[],
  transport: Pick<MailTransport, 'send'>,
  signal: AbortSignal,
): Promise<{ readonly problem: string | null }> {
  const { metrics, outreach, pool, vault } = deps;
  const byPosition = new Map(due.map((message) => [message.position, message]));
  const journal = new SliceJournal(deps, campaign.id, byPosition);
  const content = { texts: campaign.texts, source: campaign.audience.source };
  const delivery = await deliverMessages([...byPosition.keys()], {
    transport,
    journal,
    end: { signal, reason: () => 'interrupted' },
    retryPauseMs: outreach.limits.retryPauseMs,
    observe: ({ outcome }) => metrics.countMail('outreach', outcome),
    createMessage: (position) => {
      const { email, ...message } = requireMessage(byPosition, position);
      return createCampaignMail(deps, content, { ...message, email: email ?? '' });
    },
    // An address that was erased gets nothing.
    findSuppressed: async (positions) => {
      const emails = positions.map((position) => byPosition.get(position)?.email ?? null);
      const known = emails.filter((email) => email !== null);
      const flags = await listSuppressedAddresses(pool, vault, known);
      const suppressed = new Set(known.filter((_, index) => flags[index] === true));
      return new Set(
        positions.filter((_, index) => {
          const email = emails[index] ?? null;
          return email === null || suppressed.has(email);
        }),
      );
    },
  });
  if (delivery.failure !== null) throw delivery.failure;
  return { problem: journal.problem };
}

function requireMessage(messages: ReadonlyMap<number, DueMessage>, position: number): DueMessage {
  const message = messages.get(position);
  if (message === undefined) throw new RangeError(`message ${position} is not one of the slice`);
  return message;
}

/** Stores outcomes; messages that were certainly not sent return to the queue instead of failing. */
class SliceJournal implements DeliveryJournal {
  #relayError: string | null = null;
  #isAnySent = false;
  readonly #begun = new Set<number>();
  readonly #campaignId: string;
  readonly #deps: OutreachDependencies;
  readonly #messages: ReadonlyMap<number, DueMessage>;

  constructor(
    deps: OutreachDependencies,
    campaignId: string,
    messages: ReadonlyMap<number, DueMessage>,
  ) {
    this.#deps = deps;
    this.#campaignId = campaignId;
    this.#messages = messages;
  }

  /** The error of the relay itself; null as long as it accepts messages. */
  get problem(): string | null {
    return this.#isAnySent ? null : this.#relayError;
  }

  async begin(positions: readonly number[]): Promise<ReadonlySet<number>> {
    const { databaseLimiter, pool } = this.#deps;
    const begun = await databaseLimiter.run(() => beginMessages(pool, this.#campaignId, positions));
    for (const position of begun) this.#begun.add(position);
    return begun;
  }

  async end(ends: readonly MessageEnd[]): Promise<void> {
    // Another process sends the messages that this one did not begin.
    const own = ends.filter(({ position }) => this.#begun.has(position));
    this.#isAnySent ||= own.some(({ state }) => state === 'sent');
    const { untried, again, later, final } = Object.groupBy(own, (end) => this.#decide(end));
    await this.#store(final ?? []);
    await this.#postpone(untried ?? [], { isAttempt: false, delayMs: null });
    await this.#postpone(again ?? [], { isAttempt: true, delayMs: null });
    await this.#postpone(later ?? [], { isAttempt: true, delayMs: DEFERRAL_MS });
  }

  /** Requeues a message without counting an attempt if the relay accepted nothing. */
  #decide({ position, state, error }: MessageEnd): 'final' | 'untried' | 'again' | 'later' {
    if (state !== 'failed' || error === null) return 'final';
    if (isInterruption(error)) return 'untried';
    if (isRelayError(error)) {
      this.#relayError = error;
      if (!this.#isAnySent) return 'untried';
    }
    if ((this.#messages.get(position)?.attempts ?? 0) + 1 >= MAX_ATTEMPTS) return 'final';
    if (isRelayError(error)) return 'again';
    return error.startsWith('smtp_4') ? 'later' : 'final';
  }

  async #store(ends: readonly MessageEnd[]): Promise<void> {
    if (ends.length === 0) return;
    const { clock, databaseLimiter, pool } = this.#deps;
    await databaseLimiter.run(async () => {
      await endMessages(pool, this.#campaignId, ends, clock.now());
      await addOutcomes(pool, this.#campaignId, countOutcomes(ends));
    });
  }

  async #postpone(
    ends: readonly MessageEnd[],
    { isAttempt, delayMs }: { readonly isAttempt: boolean; readonly delayMs: number | null },
  ): Promise<void> {
    if (ends.length === 0) return;
    const { clock, databaseLimiter, pool } = this.#deps;
    const retryAt = delayMs === null ? null : new Date(clock.now().getTime() + delayMs);
    const positions = ends.map(({ position }) => position);
    await databaseLimiter.run(() =>
      postponeMessages(pool, this.#campaignId, positions, { isAttempt, retryAt }),
    );
  }
}

const isSuppressed = ({ state, error }: MessageEnd): boolean =>
  state === 'failed' && error === 'suppressed';

function countOutcomes(ends: readonly MessageEnd[]): OutcomeCounts {
  return {
    sent: ends.filter(({ state }) => state === 'sent').length,
    failed: ends.filter((end) => end.state === 'failed' && !isSuppressed(end)).length,
    suppressed: ends.filter(isSuppressed).length,
    unknown: ends.filter(({ state }) => state === 'unknown').length,
  };
}
