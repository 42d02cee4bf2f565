/** Check of doctor: whether the connections to the database and to its replica are encrypted. */
import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

import type { PoolClient } from 'pg';

import type { DatabaseTls } from '#server/config/database-tls.ts';
import { isLoopback } from '#server/lib/loopback.ts';

import { type Finding, ok, warning } from './finding.ts';

/** Which connection is judged. */
interface Subject {
  readonly check: 'database' | 'replica';
  /** The setting with its URL. */
  readonly setting: string;
}

const DATABASE: Subject = { check: 'database', setting: 'DATABASE_URL' };
const REPLICA: Subject = { check: 'replica', setting: 'LATCHKEY_REPLICA_URL' };

type Tls = Pick<DatabaseTls, 'mode' | 'isModeSet'>;

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
export function judgeEncryption(version: string, place: string, tls: Tls, route: Route): Finding {
  const { check } = DATABASE;
  const server = `${version} at ${place} answers`;
  const [problem] = findUnencrypted(DATABASE, place, tls, route);
  if (problem !== undefined) return problem;
  if (route.protocol !== null) return ok(check, `${server}, encrypted with ${route.protocol}.`);
  return ok(check, route.isLocal ? `${server}.` : `${server}, unencrypted (sslmode=disable).`);
}

/** Returns the warning of an unencrypted connection to a replica on another machine. */
export function judgeReplicaEncryption(place: string, tls: Tls, route: Route): Finding[] {
  return findUnencrypted(REPLICA, place, tls, route);
}

function findUnencrypted(
  { check, setting }: Subject,
  place: string,
  { mode, isModeSet }: Tls,
  { protocol, isLocal }: Route,
): Finding[] {
  if (protocol !== null || isLocal || mode === 'disable') return [];
  const problem = warning(check, {
    code: `${check}.unencrypted`,
    symptom:
      'Passwords, e-mail addresses and everything else in the database cross the network unencrypted.',
    cause: `The connection to ${place} has no TLS, which sslmode=${mode}${isModeSet ? '' : ', the default,'} permits.`,
    fix: `Enable TLS on the server, and set sslmode=verify-full and sslrootcert in ${setting}; in a network that you trust, set sslmode=disable (docs/operations/postgresql.md).`,
    facts: { host: place },
  });
  return [problem];
}
