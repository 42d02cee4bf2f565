import { DatabaseError } from 'pg';

import { codeOf } from '#server/lib/error-code.ts';

/** SQLSTATEs that ask for the same work again (PostgreSQL, appendix A). */
const TRANSIENT_CONFLICTS = new Set(['40001', '40P01']);

/**
 * What may be over in a moment: class 08 (connection), 53 (out of connections, memory or disk), 57 (shutting down,
 * starting up, a statement cut short), 25006 (a primary that has become a replica) and 55P03 (a lock that was not
 * granted in time).
 */
const UNAVAILABLE_SQLSTATE = /^(08|53|57|25006|55P03)/;

/** What a socket reports when nobody answers at the other end. */
const UNAVAILABLE_SYSTEM_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
]);

/** `pg` throws these as plain errors without a code. */
const UNAVAILABLE_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed)/;

/** Those of these messages that come after a long wait. */
const SILENCE_MESSAGES = /timeout/i;

/** Errors that came out of the database layer: elsewhere, a code such as ENOENT says nothing about the database. */
const databaseErrors = new WeakSet<object>();

/** Waits for the database's answer, and remembers an error as one of the database's. */
export async function fromDatabase<Result>(asked: Promise<Result>): Promise<Result> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Error) databaseErrors.add(error);
    throw error;
  }
}

/** Whether an error, wherever it was caught, came from the database and is a {@link isConnectionFailure}. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return error instanceof Error && databaseErrors.has(error) && isConnectionFailure(error);
}

/** Whether a transaction lost to another one and should be run again. */
export function isTransientConflict(error: unknown): boolean {
  return error instanceof DatabaseError && TRANSIENT_CONFLICTS.has(error.code ?? '');
}

/** Whether somebody else held a lock for too long (SQLSTATE 55P03): only those who want the same lock are affected. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '55P03';
}

/** Whether a row belongs to a partition that is not there (SQLSTATE 23514, without a constraint's name). */
export function isPartitionMissing(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '23514' && error.constraint === undefined;
}

/** Whether a unique key refused a row (SQLSTATE 23505). */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '23505';
}

/**
 * Whether an error of the database says that it cannot be reached, or is going away, so that the same call may well
 * succeed a little later.
 */
export function isConnectionFailure(error: unknown): boolean {
  if (error instanceof DatabaseError) return UNAVAILABLE_SQLSTATE.test(error.code ?? '');
  if (!(error instanceof Error)) return false;
  const isSystemError = UNAVAILABLE_SYSTEM_ERRORS.has(codeOf(error) ?? '');
  return isSystemError || UNAVAILABLE_MESSAGES.test(error.message);
}

/**
 * Whether the database used up the time that it was given and said nothing, as a frozen or unreachable one does: anybody
 * else who waits for it would wait as long, in vain.
 */
export function isDatabaseSilence(error: unknown): boolean {
  if (!isConnectionFailure(error) || error instanceof DatabaseError) return false;
  return error instanceof Error && SILENCE_MESSAGES.test(error.message);
}
