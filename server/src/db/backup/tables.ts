import { Type, type Static } from 'typebox';

import { defineStatement, Nullable, queryRow, queryRows, type Queryable } from '../statement.ts';

/** Every table of the schema, except that of the applied migrations; a test compares them with the migrations. */
export const TABLES: readonly string[] = `
  activations api_keys audit_head audit_log audit_renamed_subjects billing_adjustments billing_aliases billing_customers
  billing_events billing_licenses billing_payments billing_reconciliations billing_repairs billing_revenue
  billing_revenue_backfill billing_revenue_days billing_revenue_due billing_revenue_months billing_revenue_summaries billing_sales
  billing_subscriptions buyer_codes ended_buyer_sessions event_archives event_days event_drops event_ids event_name_days
  event_prop_days events fleet_servers import_extensions imported_licenses imported_seats imports jobs key_emails
  license_activity license_added_keys license_days license_keys license_names license_pool_keys license_refusals
  license_transactions license_updates license_uses licenses operator_networks operator_passkeys operator_recovery_codes
  operator_sessions operator_sign_in_links operator_used_challenges operators outreach_campaigns
  outreach_idempotency_keys outreach_messages outreach_recipients owner_emails removal_clock rollup_marks rollup_run
  signing_keys subscriber_confirmations subscribers suppressions trial_claims trial_conversions trial_days usage_days
  usage_first_days usage_retention usage_system_days usage_totals usage_version_days webhook_attempts webhook_deliveries
  webhook_endpoints webhook_expiry_cursor webhook_messages
`
  .trim()
  .split(/\s+/u);

const TableRow = Type.Object({
  table: Type.String(),
  columns: Type.Array(Type.String()),
  /** The partitioned table that it belongs to, and its bounds as in `create table … partition of`. */
  parent: Nullable.Text,
  bounds: Nullable.Text,
});

/** A table with rows of its own: an ordinary one, or a partition. */
export type StoredTable = Readonly<Static<typeof TableRow>>;

const listTablesStatement = defineStatement(
  'backup_list_tables',
  TableRow,
  `select stored.relname as table, parent.relname as parent, pg_get_expr(stored.relpartbound, stored.oid) as bounds,
          array_agg(attname::text order by attnum) as columns
   from pg_class stored
   join pg_attribute on attrelid = stored.oid and attnum > 0 and not attisdropped and attgenerated = ''
   left join pg_inherits on inhrelid = stored.oid
   left join pg_class parent on parent.oid = inhparent
   where stored.relkind = 'r'
     and coalesce(parent.oid, stored.oid) in (select to_regclass(name)::oid from unnest($1::text[]) name)
   group by stored.oid, stored.relname, parent.relname
   order by coalesce(parent.relname, stored.relname), stored.relname`,
);

/** Returns the tables of the schema and their partitions, by name. */
export async function listStoredTables(db: Queryable): Promise<StoredTable[]> {
  return queryRows(db, listTablesStatement, [TABLES]);
}

const presentStatement = defineStatement(
  'backup_list_present_tables',
  Type.Object({ name: Type.String() }),
  `select name from unnest($1::text[]) name where to_regclass(name) is not null order by name`,
);

/** Returns the tables of the schema that the database has, the partitioned ones among them. */
export async function listPresentTables(db: Queryable): Promise<string[]> {
  const rows = await queryRows(db, presentStatement, [[...TABLES, 'schema_migrations']]);
  return rows.map(({ name }) => name);
}

const SequenceRow = Type.Object({
  table: Type.String(),
  column: Type.String(),
  last: Type.Union([Type.Integer(), Type.Null()]),
});

/** A generated column, and the last number that was generated; null: none was. */
export type StoredSequence = Readonly<Static<typeof SequenceRow>>;

const listSequencesStatement = defineStatement(
  'backup_list_sequences',
  SequenceRow,
  `select relname as table, attname as column,
          pg_sequence_last_value(pg_get_serial_sequence(relname, attname)::regclass) as last
   from pg_attribute join pg_class on pg_class.oid = attrelid
   where attidentity <> '' and attrelid in (select to_regclass(name)::oid from unnest($1::text[]) name)
   order by 1, 2`,
);

/** Returns the generated columns of the schema. */
export async function listSequences(db: Queryable): Promise<StoredSequence[]> {
  return queryRows(db, listSequencesStatement, [TABLES]);
}

const setSequenceStatement = defineStatement(
  'backup_set_sequence',
  Type.Object({}),
  'select setval(pg_get_serial_sequence($1, $2)::regclass, $3::bigint)',
);

/** Lets the next generated number follow the last one. */
export async function setSequence(
  db: Queryable,
  { table, column, last }: StoredSequence,
): Promise<void> {
  if (last !== null) await queryRow(db, setSequenceStatement, [table, column, last]);
}
