/** Checks of doctor: the hosts of DATABASE_URL, and the replica for reports. */
import type { Pool } from 'pg';

import {
  formatHost,
  parseDatabaseUrl,
  urlOfHost,
  type DatabaseHost,
  type DatabaseUrl,
} from '#server/config/database-url.ts';
import { isRefusal } from '#server/db/database-errors.ts';
import { explainDatabaseFailure } from '#server/db/explain-failure.ts';
import { createPool } from '#server/db/pool.ts';
import {
  isPrimaryItself,
  readPrimary,
  readReplica,
  type PrimaryState,
  type ReplicaState,
} from '#server/db/replica/replica-state.ts';
import { compareReplica } from '#server/db/replica/report-reader.ts';
import { readSynchronousReplication } from '#server/db/replica/synchronous-replication.ts';
import { messageOf } from '#server/lib/unknown-values.ts';

import { describeRoute, judgeReplicaEncryption } from './check-encryption.ts';
import { failure, type Finding, ok, toSentence, warning } from './finding.ts';

const CHECK = 'database hosts';

/** A standby that is further behind takes longer to be promoted. */
const MAX_LAG_MS = 60_000;

/** Checks each host if DATABASE_URL names several, and whether a failover could lose changes; else returns no finding. */
export async function checkHosts(pool: Pool, databaseUrl: string | null): Promise<Finding[]> {
  const parsed = parseDatabaseUrl(databaseUrl ?? '');
  if ('must' in parsed || parsed.value.hosts.length < 2) return [];
  const primary = await readPrimary(pool);
  const { hosts } = parsed.value;
  const problems = await Promise.all(hosts.map((host) => checkHost(host, parsed.value, primary)));
  const findings = [...problems.flat(), ...(await checkSynchronous(pool))];
  if (findings.length > 0) return findings;
  return [ok(CHECK, `${hosts.map(formatHost).join(', ')}: a primary, and standbys that answer.`)];
}

async function checkHost(
  host: DatabaseHost,
  url: DatabaseUrl,
  primary: PrimaryState,
): Promise<Finding[]> {
  const name = formatHost(host);
  const pool = createPool(
    { url: urlOfHost(url, host) },
    { maxConnections: 1, log: { warn: () => {} } },
  );
  try {
    return judgeHost(name, primary, await readReplica(pool, primary.position));
  } catch (error) {
    return [reportUnavailable(name, error)];
  } finally {
    await pool.end();
  }
}

/** Returns the problems of a host that answers. */
export function judgeHost(name: string, primary: PrimaryState, state: ReplicaState): Finding[] {
  const facts = { host: name };
  if (isPrimaryItself(primary, state)) return [];
  if (state.systemId !== primary.systemId) {
    const problem = {
      code: 'database.other_database',
      symptom: 'After a failover the service could run on another database.',
      cause: `${name} is no copy of the primary.`,
      fix: 'Remove it from DATABASE_URL, or create it again with pg_basebackup.',
    };
    return [failure(CHECK, { ...problem, facts })];
  }
  if (!state.inRecovery) {
    const problem = {
      code: 'database.second_primary',
      symptom: 'Two hosts accept writes, so changes may be stored on the wrong one.',
      cause: `${name} is a second primary, probably the one from before a failover.`,
      fix: 'Stop it, and make it a standby with pg_rewind or pg_basebackup.',
    };
    return [failure(CHECK, { ...problem, facts })];
  }
  if (state.isComplete || (state.ageMs !== null && state.ageMs <= MAX_LAG_MS)) return [];
  return [reportLag(name, state.ageMs)];
}

function reportLag(name: string, ageMs: number | null): Finding {
  const lag = ageMs === null ? 'has replayed nothing' : `is ${Math.round(ageMs / 1_000)} s behind`;
  return warning(CHECK, {
    code: 'database.standby_behind',
    symptom: `${name} could not take over at once.`,
    cause: `The standby ${name} ${lag}.`,
    fix: 'Look at its log: it may be disconnected, or held back by a long query.',
    facts: { host: name, lag_ms: ageMs },
  });
}

/** @param error of the connection: a wrong certificate or password is not fixed by a start */
export function reportUnavailable(name: string, error: unknown): Finding {
  const { problem, fix } = explainDatabaseFailure(error);
  const facts = { host: name };
  const symptom = `${name} could not take over after a failure.`;
  if (isRefusal(error)) {
    const cause = `${name} cannot be used (${problem}).`;
    const code = 'database.host_refused';
    return warning(CHECK, { code, symptom, cause, fix: toSentence(fix), facts });
  }
  return warning(CHECK, {
    code: 'database.host_unavailable',
    symptom,
    cause: `${name} does not answer (${messageOf(error)}).`,
    fix: 'Start it as a standby of the primary.',
    facts,
  });
}

/** Settings with which a commit does not wait until a standby has stored it. */
const LOCAL_COMMITS = new Set(['off', 'local']);

async function checkSynchronous(pool: Pool): Promise<Finding[]> {
  const { names, commit, standbys } = await readSynchronousReplication(pool);
  if (names === '' || LOCAL_COMMITS.has(commit)) {
    const setting = names === '' ? 'synchronous_standby_names is empty' : '';
    return [
      warning(CHECK, {
        code: 'database.replication_asynchronous',
        symptom: 'A failover may lose changes that clients got an answer for.',
        cause: `${setting || `synchronous_commit is ${commit}`} on the primary.`,
        fix: 'Set synchronous_commit = on, and synchronous_standby_names to the names of the standbys.',
      }),
    ];
  }
  if (standbys !== 0) return [];
  return [
    failure(CHECK, {
      code: 'database.no_synchronous_standby',
      symptom: 'Changes wait for a standby, and requests fail with 503.',
      cause: 'No standby of synchronous_standby_names is connected to the primary.',
      fix: 'Start the standby, or empty synchronous_standby_names until it is back.',
    }),
  ];
}

/** Checks the replica for reports; without one returns no finding. */
export async function checkReplica(
  pool: Pool,
  { replica, replicaUrl }: { readonly replica: Pool | null; readonly replicaUrl: string | null },
  maxLagSeconds: number,
): Promise<Finding[]> {
  const check = 'replica';
  if (replica === null) return [];
  const problem = await compareReplica(pool, replica, maxLagSeconds * 1_000);
  if (problem === null) {
    const unencrypted = await checkReplicaEncryption(replica, replicaUrl);
    return unencrypted.length > 0 ? unencrypted : [ok(check, `At most ${maxLagSeconds} s behind.`)];
  }
  return [
    warning(check, {
      code: 'replica.unusable',
      symptom: 'Reports are read from the primary.',
      cause: `The replica of LATCHKEY_REPLICA_URL is not used: ${problem}.`,
      fix: 'Check the replica and its connection to the primary.',
    }),
  ];
}

async function checkReplicaEncryption(replica: Pool, url: string | null): Promise<Finding[]> {
  const parsed = parseDatabaseUrl(url ?? '');
  if ('must' in parsed) return [];
  const client = await replica.connect();
  try {
    return judgeReplicaEncryption(formatHost(client), parsed.value.tls, describeRoute(client));
  } finally {
    client.release();
  }
}
