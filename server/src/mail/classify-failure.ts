import { Type } from 'typebox';
import { Check } from 'typebox/schema';

import type { FailedResult } from './mail-transport.ts';

/** The properties of nodemailer's errors that the classification uses. */
const Failure = Type.Object({
  code: Type.Optional(Type.String()),
  /** The code of Node.js, where `code` is nodemailer's own. */
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

/** More informative than the SMTP code of the same failure. */
const BEFORE_MAIL: ReadonlySet<string> = new Set(['login', 'tls']);

/**
 * Classifies an error of nodemailer. A failure is permanent only when the relay refuses with 5xx (RFC 5321 §4.2.1) after
 * it accepted the login and the sender: an earlier refusal is a configuration error, which an operator can correct.
 */
export function classifyFailure(error: unknown): FailedResult {
  const { code, originalCode, command, responseCode, response } = Check(Failure, error)
    ? error
    : {};
  const reply = response ?? null;
  const reason = isTlsCode(originalCode) ? 'tls' : (REASONS[code ?? ''] ?? 'unknown');
  const isAboutMessage =
    command === 'RCPT TO' || command === 'DATA' || (command === 'API' && code === 'EENVELOPE');
  if (responseCode !== undefined && !BEFORE_MAIL.has(reason)) {
    const outcome = isAboutMessage && responseCode >= 500 ? 'permanent' : 'temporary';
    return { outcome, reason: `smtp_${responseCode}`, reply };
  }
  if (isAboutMessage && code === 'EENVELOPE') {
    return { outcome: 'permanent', reason: 'address', reply };
  }
  return { outcome: 'temporary', reason, reply };
}

/**
 * Whether a code is OpenSSL's, such as `CERT_HAS_EXPIRED` or `ERR_SSL_WRONG_VERSION_NUMBER`. The codes of system errors
 * have no underscore, and only EPROTO is a TLS failure.
 */
function isTlsCode(code: string | undefined): boolean {
  if (code === undefined) return false;
  return code === 'EPROTO' || /^(?:ERR_SSL_|ERR_TLS_|(?!ERR_|E[A-Z0-9]+$))/u.test(code);
}
