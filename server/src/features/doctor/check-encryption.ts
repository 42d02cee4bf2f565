/** Check of doctor: whether the connection to the database is encrypted. */
import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

import type { PoolClient } from 'pg';

import type { DatabaseTls } from '#server/config/database-tls.ts';
import { isLoopback } from '#server/lib/loopback.ts';

import { type Finding, ok, warning } from './finding.ts';

const CHECK = 'database';

/** How a connection leads to the database. */
export interface Route {
  /** Such as TLSv1.3; null: it is not encrypted. */
  readonly protocol: string | null;
  /** Whether it does not leave this machine. */
  readonly isLocal: boolean;
}

/** Reads the route at this end: behind a pooler, pg_stat_ssl would show only the connection of the pooler. */
export function describeRoute({ connection: { stream } }: PoolClient): Route {
  const protocol = stream instanceof TLSSocket ? stream.getProtocol() : null;
  if (!(stream instanceof Socket)) return { protocol, isLocal: false };
  const { localAddress, remoteAddress } = stream;
  // A Unix socket has no address.
  const isLocal =
    remoteAddress === undefined || remoteAddress === localAddress || isLoopback(remoteAddress);
  return { protocol, isLocal };
}

/** @param version of the server, such as "PostgreSQL 18.1" */
export function judgeEncryption(
  version: string,
  place: string,
  { mode, isModeSet }: Pick<DatabaseTls, 'mode' | 'isModeSet'>,
  { protocol, isLocal }: Route,
): Finding {
  const server = `${version} at ${place} answers`;
  if (protocol !== null) return ok(CHECK, `${server}, encrypted with ${protocol}.`);
  if (isLocal) return ok(CHECK, `${server}.`);
  if (mode === 'disable') return ok(CHECK, `${server}, unencrypted (sslmode=disable).`);
  return warning(CHECK, {
    code: 'database.unencrypted',
    symptom:
      'Passwords, e-mail addresses and everything else in the database cross the network unencrypted.',
    cause: `The connection to ${place} has no TLS, which sslmode=${mode}${isModeSet ? '' : ', the default,'} permits.`,
    fix: 'Enable TLS on the server, and set sslmode=verify-full and sslrootcert in DATABASE_URL; in a network that you trust, set sslmode=disable (docs/operations/postgresql.md).',
    facts: { host: place },
  });
}
