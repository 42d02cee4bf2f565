import type { OutreachResult } from '@latchkey/contract';

import { cutText } from '#server/lib/text.ts';
import type { SendResult } from '#server/mail/mail-transport.ts';

/** The final outcome of a message. */
export interface MessageOutcome {
  /** `unknown`: the relay received all of it without confirming it, or the process that sent it was killed. */
  readonly state: 'sent' | 'failed' | 'unknown';
  /** Null when it was sent; else a stable code, which the reply of the relay may follow after a colon. */
  readonly error: string | null;
}

/** A recipient and the outcome of the message. */
export interface EndedMessage extends MessageOutcome {
  readonly email: string;
  readonly messageId: string;
}

export const UNKNOWN: MessageOutcome = { state: 'unknown', error: 'unknown' };

/** @param error a stable code, for programs */
export function failed(error: string): MessageOutcome {
  return { state: 'failed', error };
}

export function toOutcome(result: SendResult): MessageOutcome {
  if (result.outcome === 'sent') return { state: 'sent', error: null };
  const { reason, reply } = result;
  // An unexpected failure may have occurred after the relay accepted the message.
  if (result.outcome === 'unknown' || reason === 'unknown') return UNKNOWN;
  const text = cleanReply(reply ?? '');
  return failed(reason.startsWith('smtp_') && text !== '' ? `${reason}: ${text}` : reason);
}

const MAX_REPLY_CHARACTERS = 200;

/** Returns the text of an SMTP reply on one line, shortened, without codes and quoted addresses. */
function cleanReply(reply: string): string {
  const text = reply
    .replaceAll(/(?:^|[\r\n])\d{3}[ -]/gu, ' ')
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .replaceAll(/<?([^\s<>]+)>?/gu, (part, word: string) => (isAddress(word) ? '<address>' : part))
    .trim();
  return cutText(text, MAX_REPLY_CHARACTERS);
}

/** Whether a word has an `@` between other characters. */
function isAddress(word: string): boolean {
  return word.slice(1, -1).includes('@');
}

/** Whether the relay deferred the message (4xx). */
export function isDeferred(result: SendResult): boolean {
  return result.outcome === 'temporary' && result.reason.startsWith('smtp_4');
}

const RELAY_REASONS = new Set(['connection', 'login', 'timeout', 'tls']);

/** Whether the relay itself failed, so that messages to other recipients would fail too. */
export function isRelayFailure(result: SendResult): boolean {
  return result.outcome === 'temporary' && RELAY_REASONS.has(result.reason);
}

/** Whether an error of a message is one of the relay itself. */
export function isRelayError(error: string): boolean {
  return RELAY_REASONS.has(error);
}

/** Whether a message was not sent because the sending ended before. */
export function isInterruption(error: string): boolean {
  return error === 'interrupted' || error === 'deadline';
}

/** Returns the result for the response; it has the message id unless the message was certainly not sent. */
export function toResult({ email, messageId, state, error }: EndedMessage): OutreachResult {
  return {
    email,
    success: state === 'sent',
    error,
    message_id: state === 'failed' ? null : messageId,
  };
}
