import { Client, DatabaseError, type Pool } from 'pg';

import { withDeadline } from '#server/lib/deadline.ts';
import { explainTlsFailure } from '#server/lib/tls-failure.ts';
import { codeOf } from '#server/lib/unknown-values.ts';

import { ChannelBindingError, TlsUnsupportedError } from './tls/tls-failures.ts';

/** SQLSTATEs after which the same work should be run again (PostgreSQL, appendix A). */
const TRANSIENT_CONFLICTS = new Set(['40001', '40P01']);

/**
 * Failures that may pass: class 08 (connection), 53 (out of connections, memory or disk), 57 (shutting down, starting up, a
 * statement canceled), 25006 (a primary that became a replica), 55P03 (a lock timeout) and 58030 (a disk, or a worker of Citus).
 */
const UNAVAILABLE_SQLSTATE = /^(08|53|57|25006|55P03|58030)/;

/**
 * Socket errors when the server is unreachable, when no file descriptor is left for a socket, or when too many connections wait at a
 * socket of the local machine (EAGAIN, connect(2)).
 */
const UNAVAILABLE_SYSTEM_ERRORS = new Set([
  'EAGAIN',
  'EMFILE',
  'ENFILE',
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
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed)/;

const TIMEOUT_MESSAGES = /timeout/i;

/** A working database answers a ping within a millisecond. */
const PING_TIMEOUT_MS = 1_000;

/** None of several hosts of a database accepts connections of the wanted kind. */
export class NoHostError extends Error {
  readonly causes: readonly unknown[];

  /**
   * @param reasons one for each host, such as "db1:5432 is a standby"
   * @param causes the errors of those that did not answer
   */
  constructor(reasons: readonly string[], causes: readonly unknown[] = []) {
    super(reasons.join('; '));
    this.causes = causes;
  }
}

/** Whether TLS could not be used as the URL requires, as with a certificate that has expired. */
export function isTlsError(error: unknown): boolean {
  if (error instanceof TlsUnsupportedError || error instanceof ChannelBindingError) return true;
  return !(error instanceof DatabaseError) && explainTlsFailure(error) !== null;
}

/** Errors thrown by the database layer: elsewhere, a code such as ENOENT is unrelated to the database. */
const databaseErrors = new WeakSet<object>();

/** Awaits a call to the database and marks its error as one of the database layer. */
export async function fromDatabase<Result>(call: Promise<Result>): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof Error) databaseErrors.add(error);
    throw error;
  }
}

/** Whether an error, wherever it was caught, came from the database layer and is a {@link isConnectionFailure}. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return error instanceof Error && databaseErrors.has(error) && isConnectionFailure(error);
}

/** Whether a transaction failed in a deadlock or serialization conflict and should be run again. */
export function isTransientConflict(error: unknown): boolean {
  return error instanceof DatabaseError && TRANSIENT_CONFLICTS.has(error.code ?? '');
}

/** Whether a lock was not granted in time (SQLSTATE 55P03). It affects only callers that need the same lock. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '55P03';
}

/** Whether no partition exists for a row (SQLSTATE 23514 without a constraint's name). */
export function isPartitionMissing(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '23514' && error.constraint === undefined;
}

/**
 * Whether a connection must not be used again: it broke, the server closes it (severity FATAL), or its server became a
 * standby (25006).
 */
export function isConnectionSpent(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return true;
  return error.severity !== 'ERROR' || error.code === '25006';
}

/** Whether a row violates a unique key (SQLSTATE 23505). */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '23505';
}

/**
 * Whether an error has no SQLSTATE of its own (XX000). Citus reports any failure of a COPY to a worker so, among them the
 * violation of a unique key, a missing partition, and a worker that stopped before the commit.
 */
export function isUnclassified(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === 'XX000';
}

/** Whether the database is unreachable or shutting down, so that the same call may succeed later. */
export function isConnectionFailure(error: unknown): boolean {
  if (error instanceof DatabaseError) return UNAVAILABLE_SQLSTATE.test(error.code ?? '');
  if (error instanceof NoHostError || isTlsError(error)) return true;
  if (!(error instanceof Error)) return false;
  const isSystemError = UNAVAILABLE_SYSTEM_ERRORS.has(codeOf(error) ?? '');
  return isSystemError || UNAVAILABLE_MESSAGES.test(error.message);
}

/** Whether a server rejects the user or the database, or has a wrong certificate: a later attempt fails, too. */
export function isRefusal(error: unknown): boolean {
  return isTlsError(error) || (error instanceof DatabaseError && !isConnectionFailure(error));
}

/** Whether a connection or a statement timed out, as with a frozen or unreachable server. */
export function isDatabaseTimeout(error: unknown): boolean {
  if (!isConnectionFailure(error) || error instanceof DatabaseError) return false;
  return error instanceof Error && TIMEOUT_MESSAGES.test(error.message);
}

/**
 * Whether an error is a timeout and the database answers no ping on a separate connection either, so that all callers can
 * fail at once. A statement that waited for a lock does not count.
 */
export async function isDatabaseUnresponsive(
  pool: Pick<Pool, 'options'>,
  error: unknown,
): Promise<boolean> {
  return isDatabaseTimeout(error) && !(await answersPing(pool));
}

async function answersPing({ options }: Pick<Pool, 'options'>): Promise<boolean> {
  const client = createPingClient(options);
  // Without a listener, a connection that breaks later would end the process.
  client.on('error', () => {});
  // Not awaited: closing a connection to an unresponsive server may never finish.
  const close = (): void => void client.end().catch(() => {});
  const ping = client.connect().then(() => client.query('select 1'));
  try {
    await withDeadline(PING_TIMEOUT_MS, 'Query read timeout', ping);
    return true;
  } catch (error) {
    // A server that rejects the connection responds.
    return error instanceof DatabaseError;
  } finally {
    close();
    // It may connect after the deadline.
    ping.then(close, close);
  }
}

/** A pool of several hosts has a class of its own. */
function createPingClient({ Client: Own, ...options }: Pool['options']): Client {
  const client = Own === undefined ? null : new Own();
  if (client instanceof Client) return client;
  return new Client({ ...options, connectionTimeoutMillis: PING_TIMEOUT_MS });
}
