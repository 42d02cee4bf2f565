import { Type } from 'typebox';

import {
  Timestamp,
  columnsOf,
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import { ActivationRow, toActivation, type ActivationRecord } from './activations.ts';

const COLUMNS = columnsOf(ActivationRow);

const listActiveStatement = defineStatement(
  'activation_list_active',
  ActivationRow,
  `select ${COLUMNS} from activations
   where license_id = $1 and deactivated_at is null
   order by last_validated_at desc, id
   offset $2 limit $3`,
);

/** Lists a page of the active machines of a license, the one that validated last first. */
export async function listActiveMachines(
  db: Queryable,
  licenseId: string,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<ActivationRecord[]> {
  const rows = await queryRows(db, listActiveStatement, [licenseId, offset, limit]);
  return rows.map(toActivation);
}

const listDeactivatedStatement = defineStatement(
  'activation_list_deactivated',
  ActivationRow,
  `select ${COLUMNS} from activations
   where license_id = $1 and deactivated_at is not null
   order by deactivated_at desc, id
   limit $2`,
);

/** Lists the machines of a license that were deactivated last. */
export async function listDeactivatedMachines(
  db: Queryable,
  licenseId: string,
  limit: number,
): Promise<ActivationRecord[]> {
  const rows = await queryRows(db, listDeactivatedStatement, [licenseId, limit]);
  return rows.map(toActivation);
}

const findStatement = defineStatement(
  'activation_find',
  ActivationRow,
  `select ${COLUMNS} from activations where license_id = $1 and id = $2`,
);

/** Finds a machine of a license, active or deactivated. */
export async function findMachineOf(
  db: Queryable,
  licenseId: string,
  activationId: string,
): Promise<ActivationRecord | null> {
  const row = await queryRow(db, findStatement, [licenseId, activationId]);
  return row === null ? null : toActivation(row);
}

const findFreedStatement = defineStatement(
  'activation_find_freed',
  Type.Object({ deactivatedAt: Timestamp }),
  `select deactivated_at from activations
   where license_id = $1 and freed_by_owner and deactivated_at > $2
   order by deactivated_at desc
   offset $3 - 1 limit 1`,
);

/**
 * Returns when the owner of a license deactivated the n-th newest machine since a date; null when there were fewer.
 * @param n at least 1
 */
export async function findFreedByOwner(
  db: Queryable,
  licenseId: string,
  since: Date,
  n: number,
): Promise<Date | null> {
  return (await queryRow(db, findFreedStatement, [licenseId, since, n]))?.deactivatedAt ?? null;
}

const markFreedStatement = defineCommand(
  'activation_mark_freed',
  `update activations set freed_by_owner = true
   where license_id = $1 and id = $2 and deactivated_at is null`,
);

/** Records that the owner of a license deactivates a machine; returns false when it is inactive already. */
export async function markFreedByOwner(
  db: Queryable,
  licenseId: string,
  activationId: string,
): Promise<boolean> {
  return (await execute(db, markFreedStatement, [licenseId, activationId])) === 1;
}
