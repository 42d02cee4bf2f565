/** Feature: spread the tables that grow without bound over several servers with Citus. */

/** A table that Citus distributes by a column. */
export interface SpreadTable {
  readonly table: string;
  readonly column: string;
  /** The table whose rows with the same value are on the same server; null: it is joined with none. */
  readonly colocatedWith: string | null;
}

/** Events and their ids. By install, so that an erasure and a list read one shard, and roll-ups group by install on the workers. */
const EVENT_TABLES: readonly SpreadTable[] = [
  { table: 'events', column: 'install_id', colocatedWith: null },
  { table: 'event_ids', column: 'event_id', colocatedWith: null },
];

const USAGE_TABLES: readonly SpreadTable[] = [
  { table: 'usage_days', column: 'machine_key', colocatedWith: null },
  { table: 'usage_first_days', column: 'machine_key', colocatedWith: 'usage_days' },
];

/** Every table that may be spread. All others stay on the coordinator. */
export const SPREAD_TABLES: readonly SpreadTable[] = [...EVENT_TABLES, ...USAGE_TABLES];

/** Returns the tables to spread, in this order. */
export function listTablesToSpread(withUsage: boolean): readonly SpreadTable[] {
  return withUsage ? SPREAD_TABLES : EVENT_TABLES;
}

/** Each batch touches every shard of event_ids, so that more shards cost throughput: three times as much with 32. */
export const SHARD_COUNT = 8;

/**
 * Settings of the database. One connection per worker and statement, because several that commit together cost more than
 * they gain for small batches: 648 instead of 184 requests with events per second.
 */
export const DATABASE_SETTINGS: Readonly<Record<string, string>> = {
  'citus.max_adaptive_executor_pool_size': '1',
  'citus.multi_shard_modify_mode': 'sequential',
  'citus.max_cached_conns_per_worker': '4',
};
