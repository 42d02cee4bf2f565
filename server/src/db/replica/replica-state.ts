/** Where the primary and a replica are, and why a replica must not be read. */
import { Type, type Static } from 'typebox';

import { defineStatement, queryRow, type Queryable } from '../statement.ts';

const PrimaryRow = Type.Object({
  /** The same on a primary and all of its replicas. */
  systemId: Type.String(),
  /** The time at which the server started, which distinguishes two servers. */
  startedAt: Type.String(),
  /** The end of the write-ahead log. */
  position: Type.String(),
  /** Each promotion begins a new one. */
  timeline: Type.Number(),
});

/** The server that the service writes to. */
export type PrimaryState = Readonly<Static<typeof PrimaryRow>>;

const primaryStatement = defineStatement(
  'replica_primary_state',
  PrimaryRow,
  `select system_identifier::text as system_id, extract(epoch from pg_postmaster_start_time())::text as started_at,
          pg_current_wal_lsn()::text as position, timeline_id as timeline
   from pg_control_system(), pg_control_checkpoint()`,
);

/** Reads the state of the primary. */
export async function readPrimary(db: Queryable): Promise<PrimaryState> {
  const row = await queryRow(db, primaryStatement);
  if (row === null) throw new Error('the primary reported no state');
  return row;
}

const ReplicaRow = Type.Object({
  systemId: Type.String(),
  startedAt: Type.String(),
  inRecovery: Type.Boolean(),
  /** The latest that it is known to follow, up to a few minutes after it does. */
  timeline: Type.Number(),
  /** Whether it has everything that the primary had at its position. */
  isComplete: Type.Boolean(),
  /** The age of the last transaction that it has; null: none since it started. */
  ageMs: Type.Union([Type.Number(), Type.Null()]),
});

/** A server that is only read, compared with the primary. */
export type ReplicaState = Readonly<Static<typeof ReplicaRow>>;

const replicaStatement = defineStatement(
  'replica_state',
  ReplicaRow,
  `select system_identifier::text as system_id, extract(epoch from pg_postmaster_start_time())::text as started_at,
          pg_is_in_recovery() as in_recovery,
          greatest(timeline_id, min_recovery_end_timeline, (select received_tli from pg_stat_wal_receiver)) as timeline,
          coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) as is_complete,
          (extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000)::float8 as age_ms
   from pg_control_system(), pg_control_checkpoint(), pg_control_recovery()`,
);

/** Reads the state of a replica. @param position of the primary */
export async function readReplica(db: Queryable, position: string): Promise<ReplicaState> {
  const row = await queryRow(db, replicaStatement, [position]);
  if (row === null) throw new Error('the replica reported no state');
  return row;
}

/** Whether the URL of the replica leads to the primary itself, as after a failover. */
export function isPrimaryItself(primary: PrimaryState, replica: ReplicaState): boolean {
  return replica.systemId === primary.systemId && replica.startedAt === primary.startedAt;
}

/**
 * Returns why a replica must not be read, as a clause; null: it may be.
 * @param maxLagMs null: it must have everything that the primary had
 */
export function findReplicaProblem(
  primary: PrimaryState,
  replica: ReplicaState,
  maxLagMs: number | null,
): string | null {
  if (isPrimaryItself(primary, replica)) return null;
  if (replica.systemId !== primary.systemId) return 'it is a replica of another database';
  if (!replica.inRecovery) return 'it is no standby, but a second primary';
  // It may follow a primary from before a failover, whose positions are not comparable.
  if (replica.timeline < primary.timeline)
    return `it is on timeline ${replica.timeline}, and the primary on ${primary.timeline}`;
  if (replica.isComplete) return null;
  if (maxLagMs === null) return 'it does not have the last changes';
  if (replica.ageMs === null) return 'it has replayed nothing since it started';
  if (replica.ageMs <= maxLagMs) return null;
  return `it is ${Math.round(replica.ageMs / 1_000)} s behind, and ${maxLagMs / 1_000} s are allowed`;
}
