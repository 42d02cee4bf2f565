import { codeOf } from '#server/lib/unknown-values.ts';

/** Why an attempt to connect failed, and the event that reports it to the driver. */
export interface Failure {
  readonly event: 'error' | 'errorMessage';
  readonly error: unknown;
  readonly isEncrypted: boolean;
}

/** SQLSTATE of "no pg_hba.conf entry …", also for a kind of connection that the server does not accept. */
const NOT_AUTHORIZED = '28000';

/**
 * Of an encrypted and an unencrypted attempt that failed, returns the failure that explains more: not the one that only says
 * that the server does not accept this kind of connection.
 */
export function chooseFailure(first: Failure | null, last: Failure): Failure {
  if (first === null) return last;
  const [encrypted, plain] = first.isEncrypted ? [first, last] : [last, first];
  return codeOf(encrypted.error) === NOT_AUTHORIZED && codeOf(plain.error) !== NOT_AUTHORIZED
    ? plain
    : encrypted;
}
