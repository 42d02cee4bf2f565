import { DatabaseError } from 'pg';

/** SQLSTATEs that ask for the same work again (PostgreSQL, appendix A). */
const TRANSIENT_CONFLICTS = new Set(['40001', '40P01']);

/** Classes 08 (connection), 57 (operator intervention: shutting down, starting up) and 53300 (too many connections). */
const UNAVAILABLE_SQLSTATE = /^(08|57P0[1-3]|53300)/;

/** What a socket says when nobody answers behind it. */
const UNAVAILABLE_SYSTEM_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
]);

/** `pg` throws these as plain errors without a code. */
const UNAVAILABLE_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed)/;

/** Whether a transaction lost against another one and is to be run again. */
export function isTransientConflict(error: unknown): boolean {
  return error instanceof DatabaseError && TRANSIENT_CONFLICTS.has(error.code ?? '');
}

/** Whether a unique key refused a row (SQLSTATE 23505). */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '23505';
}

/** Whether the database cannot be reached, or is going away, so that the very same call may work a little later. */
export function isConnectionFailure(error: unknown): boolean {
  if (error instanceof DatabaseError) return UNAVAILABLE_SQLSTATE.test(error.code ?? '');
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return UNAVAILABLE_SYSTEM_ERRORS.has(code) || UNAVAILABLE_MESSAGES.test(error.message);
}
