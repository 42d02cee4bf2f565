import { Type } from 'typebox';
import { Check } from 'typebox/schema';

import type { FailedResult } from './mail-transport.ts';

/** What nodemailer's errors carry, as far as it matters here. */
const Failure = Type.Object({
  code: Type.Optional(Type.String()),
  command: Type.Optional(Type.String()),
  responseCode: Type.Optional(Type.Integer()),
  response: Type.Optional(Type.String()),
});

const REASONS: Readonly<Record<string, string>> = {
  ETIMEDOUT: 'timeout',
  EABORT: 'deadline',
  EAUTH: 'login',
  ETLS: 'tls',
  EREQUIRETLS: 'tls',
  EDNS: 'connection',
  ESOCKET: 'connection',
  ECONNECTION: 'connection',
};

/**
 * What a failure to send means. It is lasting only when the relay refuses for good (5xx, RFC 5321 §4.2.1) after it has
 * accepted our login and our sender: before that the configuration is wrong, which an operator can put right.
 */
export function classifyFailure(error: unknown): FailedResult {
  const { code, command, responseCode, response } = Check(Failure, error) ? error : {};
  const answer = response ?? null;
  const named = REASONS[code ?? ''];
  const aboutMessage =
    command === 'RCPT TO' || command === 'DATA' || (command === 'API' && code === 'EENVELOPE');
  if (responseCode !== undefined && code !== 'EAUTH') {
    const lasting = aboutMessage && responseCode >= 500;
    return {
      outcome: lasting ? 'lasting' : 'temporary',
      reason: `smtp_${responseCode}`,
      answer,
    };
  }
  if (aboutMessage && code === 'EENVELOPE') {
    return { outcome: 'lasting', reason: 'address', answer };
  }
  return { outcome: 'temporary', reason: named ?? 'unknown', answer };
}
