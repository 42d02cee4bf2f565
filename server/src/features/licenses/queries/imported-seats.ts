import { Type, type Static } from 'typebox';

import {
  columnsOf,
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRow,
  Timestamp,
  toColumns,
  type Queryable,
} from '#server/db/statement.ts';

const SeatRow = Type.Object({
  licenseId: Type.String(),
  id: Type.String(),
  instanceId: Nullable.Text,
  label: Nullable.Text,
  lastSeenAt: Nullable.Timestamp,
  usedAt: Nullable.Timestamp,
  countsUntil: Timestamp,
  activationId: Nullable.Text,
});

/** A seat that a license used in the system that it was imported from. */
export type ImportedSeat = Readonly<Static<typeof SeatRow>>;

const COLUMNS = columnsOf(SeatRow);

const insertStatement = defineCommand(
  'imported_seat_insert_many',
  `insert into imported_seats (license_id, id, instance_id, label, last_seen_at, import_id, counts_until)
   select license_id, id, instance_id, label, last_seen_at, $6, $7
   from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[])
     as new (license_id, id, instance_id, label, last_seen_at)`,
);

/** Stores the seats of imported licenses. */
export async function insertImportedSeats(
  db: Queryable,
  seats: readonly Pick<ImportedSeat, 'licenseId' | 'id' | 'instanceId' | 'label' | 'lastSeenAt'>[],
  importId: string,
  countsUntil: Date,
): Promise<void> {
  if (seats.length === 0) return;
  const columns = toColumns(seats, ['licenseId', 'id', 'instanceId', 'label', 'lastSeenAt']);
  await execute(db, insertStatement, [...columns, importId, countsUntil]);
}

/** Active machines and seats that still count, of the license `$1` at `$3`. */
const USED_MACHINES = `
  (select count(*) from activations where license_id = $1 and deactivated_at is null)
  + (select count(*) from imported_seats where license_id = $1 and activation_id is null and counts_until > $3)`;

/** A program that uses a seat, or did lately, loses it last. A seat of which only the number is known has no program. */
const takeOverStatement = defineStatement(
  'imported_seat_take_over',
  Type.Object({ id: Type.String() }),
  `update imported_seats set activation_id = $2, taken_over_at = $3
   where license_id = $1 and id = (
     select id from imported_seats
     where license_id = $1 and activation_id is null and counts_until > $3
       and (instance_id is null or $4 <= (${USED_MACHINES}))
     order by greatest(last_seen_at, used_at) nulls first, id
     limit 1)
   returning id`,
);

/**
 * Lets a new activation of a locked license take over a seat that still counts, the longest unused one first; returns false
 * when there is none. The seat of a known device stays while the license has room for another machine, so that its old program
 * continues.
 */
export async function takeOverSeat(
  db: Queryable,
  { id: licenseId, maxActivations }: { readonly id: string; readonly maxActivations: number },
  activationId: string,
  now: Date,
): Promise<boolean> {
  const parameters = [licenseId, activationId, now, maxActivations];
  return (await queryRow(db, takeOverStatement, parameters)) !== null;
}

const findInstanceStatement = defineStatement(
  'imported_seat_find_instance',
  SeatRow,
  `select ${COLUMNS} from imported_seats where instance_id = $2 and license_id = $1`,
);

/** Finds the seat of a license by the id of its device or activation in the system that it comes from. */
export async function findSeatByInstance(
  db: Queryable,
  licenseId: string,
  instanceId: string,
): Promise<ImportedSeat | null> {
  return queryRow(db, findInstanceStatement, [licenseId, instanceId]);
}

const recordUseStatement = defineCommand(
  'imported_seat_record_use',
  `update imported_seats set used_at = $3, counts_until = greatest(counts_until, $4)
   where license_id = $1 and id = $2 and activation_id is null`,
);

/** Records that a program of the previous system used a free seat, which then counts for longer. */
export async function recordSeatUse(
  db: Queryable,
  { licenseId, id }: Pick<ImportedSeat, 'licenseId' | 'id'>,
  usedAt: Date,
  countsUntil: Date,
): Promise<void> {
  await execute(db, recordUseStatement, [licenseId, id, usedAt, countsUntil]);
}

const countFreeStatement = defineStatement(
  'imported_seat_count_free',
  Type.Object({ count: Type.Integer() }),
  `select count(*) from imported_seats
   where license_id = $1 and activation_id is null and counts_until > $2`,
);

/** Counts the seats of a license that no activation took over and that still count. */
export async function countFreeSeats(db: Queryable, licenseId: string, now: Date): Promise<number> {
  return (await queryRow(db, countFreeStatement, [licenseId, now]))?.count ?? 0;
}

const deleteFreeStatement = defineStatement(
  'imported_seat_delete_free',
  Type.Object({ id: Type.String() }),
  `delete from imported_seats
   where license_id = $1 and id = $2 and activation_id is null
   returning id`,
);

/** Deletes a seat whose program was deactivated; returns false if an activation took it over. */
export async function deleteFreeSeat(
  db: Queryable,
  { licenseId, id }: Pick<ImportedSeat, 'licenseId' | 'id'>,
): Promise<boolean> {
  return (await queryRow(db, deleteFreeStatement, [licenseId, id])) !== null;
}

const deleteOfImportStatement = defineCommand(
  'imported_seat_delete_of_import',
  'delete from imported_seats where license_id = any ($2::uuid[]) and import_id = $1',
);

/** Deletes the seats that an import created for some licenses. */
export async function deleteSeatsOfImport(
  db: Queryable,
  importId: string,
  licenseIds: readonly string[],
): Promise<void> {
  await execute(db, deleteOfImportStatement, [importId, licenseIds]);
}
