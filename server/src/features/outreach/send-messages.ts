import type { Language, OutreachTemplate } from '@latchkey/contract';

import type { MailMessage } from '#server/mail/mail-transport.ts';
import { messageTokenOf, parseMailbox } from '#server/mail/mailbox.ts';

import { listSuppressedAddresses } from '../suppressions/stored-addresses.ts';
import { createUnsubscribeHeaders, createUnsubscribeUrl } from '../suppressions/unsubscribe.ts';
import { deliverMessages, type Delivery, type FindSuppressed } from './deliver-messages.ts';
import { UNKNOWN, type EndedMessage, type MessageOutcome } from './message-outcome.ts';
import type { OutreachDependencies } from './dependencies.ts';
import type { OutreachRecipient, OutreachWork, StoredRequest } from './outreach-request.ts';
import { beginMessages, endMessages, type StoredMessage } from './queries/messages.ts';
import { cleanName, renderTemplate } from './templates/render-template.ts';
import { readCommonFacts } from './templates/template.ts';

/**
 * Sends the waiting messages of a request, except to addresses that were suppressed in the meantime.
 * @returns the outcome of every message, in order, also of those sent before
 * @throws the error that prevented sending all of them, such as an unavailable database
 */
export async function sendMessages(
  deps: OutreachDependencies,
  work: OutreachWork,
  stored: StoredRequest,
): Promise<EndedMessage[]> {
  const waiting = stored.messages.flatMap(({ state }, position) =>
    state === 'waiting' ? [position] : [],
  );
  const delivery = await deliver(deps, work, stored, waiting);
  const ended = pairUp(work, stored).map(({ recipient, message }, position) => ({
    email: recipient.email,
    messageId: message.messageId,
    ...(delivery.outcomes.get(position) ?? storedOutcome(message)),
  }));
  logDelivery(deps, work, stored.requestId, delivery, ended);
  const mayHaveSent = ended.some(({ state }) => state !== 'failed');
  if (delivery.failure !== null && !mayHaveSent) throw delivery.failure;
  return ended;
}

function deliver(
  deps: OutreachDependencies,
  work: OutreachWork,
  stored: StoredRequest,
  waiting: readonly number[],
): Promise<Delivery> {
  const { databaseLimiter, pool, clock, metrics, outreach } = deps;
  const { request, recipients, transport, end } = work;
  const { requestId } = stored;
  const createMessage = createMessageFactory(deps, request.template, request.language ?? 'en');
  const pairs = pairUp(work, stored);
  return deliverMessages(waiting, {
    transport,
    end,
    retryPauseMs: outreach.limits.retryPauseMs,
    observe: ({ outcome }) => metrics.countMail('outreach', outcome),
    createMessage: (position) => {
      const pair = pairs[position];
      if (pair === undefined) throw new RangeError(`message ${position} has no recipient`);
      return createMessage(pair.recipient, pair.message.messageId);
    },
    journal: {
      begin: (positions) => databaseLimiter.run(() => beginMessages(pool, requestId, positions)),
      end: (ends) => databaseLimiter.run(() => endMessages(pool, requestId, ends, clock.now())),
    },
    findSuppressed: createSuppressionCheck(deps, recipients),
  });
}

function createSuppressionCheck(
  { databaseLimiter, pool, vault }: OutreachDependencies,
  recipients: readonly OutreachRecipient[],
): FindSuppressed {
  return async (positions) => {
    const emails = positions.map((position) => recipients[position]?.email ?? '');
    const isSuppressed = await databaseLimiter.run(() =>
      listSuppressedAddresses(pool, vault, emails),
    );
    return new Set(positions.filter((_, index) => isSuppressed[index] === true));
  };
}

function pairUp(
  { recipients }: OutreachWork,
  { messages }: StoredRequest,
): { recipient: OutreachRecipient; message: StoredMessage }[] {
  return recipients.flatMap((recipient, position) => {
    const message = messages[position];
    return message === undefined ? [] : [{ recipient, message }];
  });
}

/** Returns the stored outcome of a message; `unknown` for one without an outcome. */
export function storedOutcome({ state, error }: StoredMessage): MessageOutcome {
  return state === 'waiting' || state === 'sending' ? UNKNOWN : { state, error };
}

function logDelivery(
  { log }: OutreachDependencies,
  { apiKeyId, request }: OutreachWork,
  requestId: string,
  { failure }: Delivery,
  ended: readonly EndedMessage[],
): void {
  const facts = {
    outreachId: requestId,
    apiKeyId,
    template: request.template,
    total: ended.length,
    sent: ended.filter(({ state }) => state === 'sent').length,
  };
  if (failure === null) log.info({ event: 'outreach.sent', ...facts }, 'sent outreach');
  else log.error({ event: 'outreach.failed', ...facts, err: failure }, 'could not send outreach');
}

/** Returns a function that creates the messages of one template in one language, with the present catalogue. */
function createMessageFactory(
  deps: OutreachDependencies,
  template: OutreachTemplate,
  language: Language,
): (recipient: OutreachRecipient, messageId: string) => MailMessage {
  const { catalog, config } = deps;
  const from = parseMailbox(config.mail.from ?? '');
  const common = readCommonFacts(catalog().outreach, language, from);
  return ({ email, name }, messageId) => {
    const unsubscribeUrl = createUnsubscribeUrl(deps, email);
    return {
      ...renderTemplate(template, language, { ...common, name, unsubscribeUrl }),
      to: { address: email, name: cleanName(name) },
      messageToken: messageTokenOf(messageId),
      headers: { ...createUnsubscribeHeaders(deps, email), 'Content-Language': language },
    };
  };
}
