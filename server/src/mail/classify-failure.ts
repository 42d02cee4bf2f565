import { Type } from 'typebox';
import { Check } from 'typebox/schema';

import type { FailedResult } from './mail-transport.ts';

/** What nodemailer's errors carry, as far as it matters here. */
const Failure = Type.Object({
  code: Type.Optional(Type.String()),
  /** What Node.js said, where `code` is nodemailer's own. */
  originalCode: Type.Optional(Type.String()),
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

/** What these are about matters more than the code that the relay says it with. */
const BEFORE_MAIL: ReadonlySet<string> = new Set(['login', 'tls']);

/**
 * What a failure to send means. It is lasting only when the relay refuses for good (5xx, RFC 5321 §4.2.1) after it has
 * accepted our login and our sender: before that the configuration is wrong, which an operator can put right.
 */
export function classifyFailure(error: unknown): FailedResult {
  const { code, originalCode, command, responseCode, response } = Check(Failure, error)
    ? error
    : {};
  const answer = response ?? null;
  const named = nameFault(code, originalCode);
  const aboutMessage =
    command === 'RCPT TO' || command === 'DATA' || (command === 'API' && code === 'EENVELOPE');
  if (responseCode !== undefined && !BEFORE_MAIL.has(named)) {
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
  return { outcome: 'temporary', reason: named, answer };
}

function nameFault(code: string | undefined, originalCode: string | undefined): string {
  if (isTlsFault(originalCode)) return 'tls';
  return REASONS[code ?? ''] ?? 'unknown';
}

/**
 * Whether an error is OpenSSL's, such as `CERT_HAS_EXPIRED` or `ERR_SSL_WRONG_VERSION_NUMBER`. Those of the system have no
 * underscore, and all but one are about something else.
 */
function isTlsFault(code: string | undefined): boolean {
  if (code === undefined) return false;
  return code === 'EPROTO' || /^(?:ERR_SSL_|ERR_TLS_|(?!ERR_|E[A-Z0-9]+$))/u.test(code);
}
