import type { OutreachLanguage, OutreachTemplate } from '@latchkey/contract';

import type { Context } from '#server/context.ts';
import type { MailMessage } from '#server/mail/mail-transport.ts';
import { messageTokenOf, parseMailbox } from '#server/mail/mailbox.ts';

import { listSuppressedAddresses } from '../suppressions/stored-addresses.ts';
import { createUnsubscribeHeaders, createUnsubscribeUrl } from '../suppressions/unsubscribe.ts';
import { deliverMessages, type Delivery, type SuppressionCheck } from './deliver-messages.ts';
import { UNKNOWN, type EndedMessage, type MessageOutcome } from './message-outcome.ts';
import type {
  OutreachContext,
  OutreachMessage,
  OutreachRecipient,
  OutreachWork,
} from './outreach-request.ts';
import { beginMessages, endMessages } from './queries/messages.ts';
import { readableName, renderTemplate } from './templates/render-template.ts';
import { readCommonFacts } from './templates/template.ts';

/**
 * Sends those messages of a request that wait, but to nobody who wants no mail by now.
 * @returns what became of every message, in order: also of those that were sent before
 * @throws what kept all of them from being sent, such as a database that is away
 */
export async function sendMessages(
  ctx: OutreachContext,
  work: OutreachWork,
  requestId: string,
  messages: readonly OutreachMessage[],
): Promise<EndedMessage[]> {
  const waiting = messages.flatMap(({ state }, position) =>
    state === 'waiting' ? [position] : [],
  );
  const delivery = await deliver(ctx, work, requestId, messages, waiting);
  const ended = pairUp(work.recipients, messages).map(({ recipient, message }, position) => ({
    email: recipient.email,
    messageId: message.messageId,
    ...(delivery.outcomes.get(position) ?? readOutcome(message)),
  }));
  report(ctx, work, requestId, delivery, ended);
  const mayHaveSent = ended.some(({ state }) => state !== 'failed');
  if (delivery.failure !== null && !mayHaveSent) throw delivery.failure;
  return ended;
}

function deliver(
  ctx: OutreachContext,
  { request, recipients, transport, end }: OutreachWork,
  requestId: string,
  messages: readonly OutreachMessage[],
  waiting: readonly number[],
): Promise<Delivery> {
  const { databaseLimiter, pool, clock, metrics } = ctx;
  const writeTo = createLetterWriter(ctx, request.template, request.language ?? 'en');
  const pairs = pairUp(recipients, messages);
  return deliverMessages(waiting, {
    transport,
    end,
    retryPauseMs: ctx.outreach.limits.retryPauseMs,
    observe: ({ outcome }) => metrics.countMail('outreach', outcome),
    write: (position) => {
      const pair = pairs[position];
      if (pair === undefined) throw new RangeError('a message for nobody');
      return writeTo({ ...pair.recipient, messageId: pair.message.messageId });
    },
    journal: {
      begin: (positions) => databaseLimiter.run(() => beginMessages(pool, requestId, positions)),
      end: (ends) => databaseLimiter.run(() => endMessages(pool, requestId, ends, clock.now())),
    },
    findSuppressed: createSuppressionCheck(ctx, recipients),
  });
}

function createSuppressionCheck(
  { databaseLimiter, pool, vault }: OutreachContext,
  recipients: readonly OutreachRecipient[],
): SuppressionCheck {
  return async (positions) => {
    const asked = positions.map((position) => recipients[position]?.email ?? '');
    const isSuppressed = await databaseLimiter.run(() =>
      listSuppressedAddresses({ pool, vault }, asked),
    );
    return new Set(positions.filter((_, index) => isSuppressed[index] === true));
  };
}

function pairUp(
  recipients: readonly OutreachRecipient[],
  messages: readonly OutreachMessage[],
): { recipient: OutreachRecipient; message: OutreachMessage }[] {
  return recipients.flatMap((recipient, position) => {
    const message = messages[position];
    return message === undefined ? [] : [{ recipient, message }];
  });
}

/** What is stored of a message that is not sent now; of one that was begun and not ended, nobody knows. */
export function readOutcome({ state, error }: OutreachMessage): MessageOutcome {
  return state === 'waiting' || state === 'sending' ? UNKNOWN : { state, error };
}

function report(
  { log }: OutreachContext,
  { apiKeyId, request }: OutreachWork,
  requestId: string,
  { failure }: Delivery,
  ended: readonly EndedMessage[],
): void {
  const about = {
    outreachId: requestId,
    apiKeyId,
    template: request.template,
    total: ended.length,
    sent: ended.filter(({ state }) => state === 'sent').length,
  };
  if (failure === null) log.info(about, 'outreach was sent');
  else log.error({ ...about, err: failure }, 'outreach was broken off');
}

/** Who gets a letter. */
export interface Addressee {
  readonly email: string;
  readonly name: string | null;
  readonly messageId: string;
}

/** Gives what writes the letters of one template in one language, with what the catalogue says now. */
function createLetterWriter(
  ctx: Pick<Context, 'catalog' | 'config' | 'vault'>,
  template: OutreachTemplate,
  language: OutreachLanguage,
): (addressee: Addressee) => MailMessage {
  const from = parseMailbox(ctx.config.mail.from ?? '');
  const common = readCommonFacts(ctx.catalog().outreach, language, from);
  return ({ email, name, messageId }) => {
    const unsubscribeUrl = createUnsubscribeUrl(ctx, email);
    return {
      ...renderTemplate(template, language, { ...common, name, unsubscribeUrl }),
      to: { address: email, name: readableName(name) },
      messageToken: messageTokenOf(messageId),
      headers: { ...createUnsubscribeHeaders(ctx, email), 'Content-Language': language },
    };
  };
}
