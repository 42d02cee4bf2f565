import { Type, type Static } from 'typebox';

import {
  Nullable,
  Timestamp,
  defineStatement,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import type { IdRange, TextRange } from '../rules/read-search.ts';

const ActivationRow = Type.Object({
  id: Type.String(),
  licenseId: Type.String(),
  /** The machine as operators see it. */
  machine: Type.String(),
  isActive: Type.Boolean(),
  lastValidatedAt: Timestamp,
});

/** An activation as a search lists it. */
export type FoundActivation = Readonly<Static<typeof ActivationRow>>;

const MACHINE = 'coalesce(machine_id, machine_digest)';

const listStatement = defineStatement(
  'search_list_activations',
  ActivationRow,
  `select id, license_id, ${MACHINE} as machine, deactivated_at is null as is_active, last_validated_at
   from activations where id between $1 and $2 order by id desc limit $3`,
);

/** Lists activations by a range of ids, newest first. */
export async function listActivations(
  db: Queryable,
  { from, to }: IdRange,
  limit: number,
): Promise<FoundActivation[]> {
  return queryRows(db, listStatement, [from, to, limit]);
}

const GroupRow = Type.Object({
  id: Type.String(),
  /** At most {@link MAX_COUNTED}. */
  activations: Type.Number(),
  lastSeenAt: Timestamp,
});

/** A machine or an install, and its activations. */
export type FoundMachine = Readonly<Static<typeof GroupRow>>;

/** A broken client may use one id on all machines. */
const MAX_COUNTED = 500;

const machinesStatement = defineStatement(
  'search_list_machines',
  GroupRow,
  `select machine as id, count(*) as activations, max(last_validated_at) as last_seen_at
   from (
     select ${MACHINE} as machine, last_validated_at from activations
     where left(${MACHINE}, 200) ~>=~ $1 and left(${MACHINE}, 200) ~<~ $2
     order by left(${MACHINE}, 200) using ~<~
     limit ${MAX_COUNTED}
   ) as found
   group by machine order by machine limit $3`,
);

/** Lists machines whose ids, as operators see them, are in a range. */
export async function listMachines(
  db: Queryable,
  { from, until }: TextRange,
  limit: number,
): Promise<FoundMachine[]> {
  return queryRows(db, machinesStatement, [from, until, limit]);
}

const installsStatement = defineStatement(
  'search_list_installs',
  GroupRow,
  `select install_id as id, count(*) as activations, max(last_validated_at) as last_seen_at
   from (
     select install_id, last_validated_at from activations
     where install_id between $1 and $2 order by install_id limit ${MAX_COUNTED}
   ) as found
   group by install_id order by install_id limit $3`,
);

/** Lists installs with an activation by a range of ids. */
export async function listInstalls(
  db: Queryable,
  { from, to }: IdRange,
  limit: number,
): Promise<FoundMachine[]> {
  return queryRows(db, installsStatement, [from, to, limit]);
}

const usageStatement = defineStatement(
  'search_find_usage',
  Type.Object({ lastSeenAt: Nullable.Timestamp }),
  'select max(last_at) as last_seen_at from usage_days where machine_key = any ($1::uuid[])',
);

/**
 * Returns when a machine was last used, or null. A maximum, because PostgreSQL would look for the newest row from the newest
 * day on, over all machines.
 * @param machineKeys its keys under all master secrets
 */
export async function findUsage(
  db: Queryable,
  machineKeys: readonly string[],
): Promise<Date | null> {
  return (await queryRow(db, usageStatement, [machineKeys]))?.lastSeenAt ?? null;
}
