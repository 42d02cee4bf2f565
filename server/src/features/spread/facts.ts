import type { DistributedTable } from '#server/db/distribution.ts';

/** A server of the cluster. */
export interface ClusterNode {
  /** Its host and port. */
  readonly name: string;
  readonly isCoordinator: boolean;
  readonly isActive: boolean;
  readonly holdsShards: boolean;
  /** Null: it did not answer. */
  readonly maxPreparedTransactions: number | null;
}

/** What decides whether and how tables can be spread. */
export interface ClusterFacts {
  /** Null without Citus. */
  readonly citusVersion: string | null;
  /** Whether no pooler is between. */
  readonly isDirect: boolean;
  readonly nodes: readonly ClusterNode[];
  readonly tables: readonly DistributedTable[];
  /** Whether the role owns the database and its tables. */
  readonly isOwner: boolean;
  /** The values of `DATABASE_SETTINGS` on this connection. */
  readonly settings: Readonly<Record<string, string>>;
}
