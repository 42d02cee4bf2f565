import type { OutreachResult } from '@latchkey/contract';

import type { SendResult } from '#server/mail/mail-transport.ts';

/** What became of a message, for good. */
export interface MessageOutcome {
  /** `unknown`: the relay had all of it and did not say whether it takes it. */
  readonly state: 'sent' | 'failed' | 'unknown';
  /** Null when it was sent; else a short, stable text, which the relay's own words may follow after a colon. */
  readonly error: string | null;
}

/** A message with what became of it. */
export interface EndedMessage extends MessageOutcome {
  readonly email: string;
  readonly messageId: string;
}

const SENT: MessageOutcome = { state: 'sent', error: null };
export const UNKNOWN: MessageOutcome = { state: 'unknown', error: 'unknown' };

/** @param error a word that stays the same, for programs to read */
export function notSent(error: string): MessageOutcome {
  return { state: 'failed', error };
}

/** What the result of a transport says of a message. */
export function toOutcome(result: SendResult): MessageOutcome {
  if (result.outcome === 'sent') return SENT;
  const { reason, answer } = result;
  // What went wrong in a way that nobody foresaw may have gone wrong after the relay took it.
  if (result.outcome === 'unknown' || reason === 'unknown') return UNKNOWN;
  const words = readWords(answer ?? '');
  return notSent(reason.startsWith('smtp_') && words !== '' ? `${reason}: ${words}` : reason);
}

const MAX_WORDS_CHARACTERS = 200;

/** What the relay says after its code: on one line, in short, and without the address that it quotes. */
function readWords(answer: string): string {
  const words = answer
    .replaceAll(/(?:^|[\r\n]+)\d{3}[ -]/gu, ' ')
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .replaceAll(/<?[^\s<>]+@[^\s<>]+>?/gu, '<address>')
    .trim();
  return Array.from(words).slice(0, MAX_WORDS_CHARACTERS).join('');
}

/** Whether the relay asked for another try, later. */
export function asksToRetry(result: SendResult): boolean {
  return result.outcome === 'temporary' && result.reason.startsWith('smtp_4');
}

/** Whether nothing can be sent as things are, to whomever it is: the relay is not there, or does not let us in. */
export function concernsRelay(result: SendResult): boolean {
  return result.outcome === 'temporary' && RELAY_REASONS.has(result.reason);
}

const RELAY_REASONS = new Set(['connection', 'login', 'timeout', 'tls']);

/** The id of a message is told where the message may have arrived. */
export function toResult({ email, messageId, state, error }: EndedMessage): OutreachResult {
  return {
    email,
    success: state === 'sent',
    error,
    message_id: state === 'failed' ? null : messageId,
  };
}
