import { Type, type Static } from 'typebox';

import {
  Nullable,
  Timestamp,
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import { formatComponents, type HashedIdentity } from '../fingerprint/identity.ts';

const Components = Type.Object({
  strong: Type.Array(Type.String()),
  medium: Type.Array(Type.String()),
  weak: Type.Array(Type.String()),
});

/** Every column of an activation that the service reads. */
export const ActivationRow = Type.Object({
  license_id: Type.String(),
  id: Type.String(),
  machine_id: Nullable.Text,
  components: Components,
  machine_digest: Type.String(),
  os_version: Nullable.Text,
  app_version: Nullable.Text,
  versions_reported_at: Timestamp,
  activated_at: Timestamp,
  deactivated_at: Nullable.Moment,
  last_validated_at: Timestamp,
  validation_count: Type.Integer(),
  entitlement_proof: Nullable.Text,
});

/** A machine that took, or once took, a slot of a license. */
export interface ActivationRecord {
  readonly licenseId: string;
  readonly id: string;
  readonly machineId: string | null;
  readonly identity: HashedIdentity;
  readonly osVersion: string | null;
  readonly appVersion: string | null;
  /** When the two versions were told. */
  readonly versionsReportedAt: Date;
  readonly activatedAt: Date;
  readonly deactivatedAt: Date | null;
  readonly lastValidatedAt: Date;
  readonly validationCount: number;
  readonly entitlementProof: string | null;
}

/** What is stored when a machine takes a slot, or comes back to its own. */
export interface ActivationChange {
  readonly licenseId: string;
  readonly id: string;
  readonly machineId: string | null;
  readonly identity: HashedIdentity;
  readonly installId: string | null;
  readonly osVersion: string | null;
  readonly appVersion: string | null;
  readonly entitlementProof: string | null;
}

const COLUMNS = Object.keys(ActivationRow.properties).join(', ');

const listStatement = defineStatement(
  'activation_list',
  ActivationRow,
  `select ${COLUMNS} from activations
   where license_id = $1
   order by (deactivated_at is null) desc, activated_at, id
   limit $2`,
);

/** The activations of a license: those that hold a slot first, then by age. */
export async function listActivationsOf(
  db: Queryable,
  licenseId: string,
  limit: number,
): Promise<ActivationRecord[]> {
  const rows = await queryRows(db, listStatement, [licenseId, limit]);
  return rows.map(fromRow);
}

const countActiveStatement = defineStatement(
  'activation_count_active',
  Type.Object({ count: Type.Integer() }),
  'select count(*) from activations where license_id = $1 and deactivated_at is null',
);

/** How many slots of a license are taken. */
export async function countActiveActivations(db: Queryable, licenseId: string): Promise<number> {
  return (await queryRow(db, countActiveStatement, [licenseId]))?.count ?? 0;
}

const listRelativesStatement = defineStatement(
  'activation_list_relatives',
  ActivationRow,
  `select ${COLUMNS} from activations
   where license_id = $1 and deactivated_at is null
     and (machine_digest = $2 or components -> 'strong' ?| $3::text[] or components -> 'medium' ?| $4::text[])
   order by activated_at, id`,
);

/**
 * The activations that hold a slot of a license and may be the machine's, the oldest first: those with its digest, or
 * with one of its strong or medium components. No other can be the same machine (`isSameMachine`), and the rest of a
 * large license stays in the database. They are looked for among all machines of the license: an activation on one with
 * 20,000 machines took 85 ms where one on an empty license took 30, and time grows with their number.
 */
export async function listActiveRelatives(
  db: Queryable,
  licenseId: string,
  { digest, strong, medium }: HashedIdentity,
): Promise<ActivationRecord[]> {
  const rows = await queryRows(db, listRelativesStatement, [licenseId, digest, strong, medium]);
  return rows.map(fromRow);
}

const listPageStatement = defineStatement(
  'activation_list_page',
  ActivationRow,
  `select ${COLUMNS} from activations
   where (license_id, id) > ($1, $2)
   order by license_id, id
   limit $3`,
);

/**
 * A page of all activations, license by license.
 * @param after the last one of the page before, or the nil UUID twice
 */
export async function listActivationsAfter(
  db: Queryable,
  after: Pick<ActivationRecord, 'licenseId' | 'id'>,
  limit: number,
): Promise<ActivationRecord[]> {
  const rows = await queryRows(db, listPageStatement, [after.licenseId, after.id, limit]);
  return rows.map(fromRow);
}

const insertStatement = defineCommand(
  'activation_insert',
  `insert into activations (license_id, id, machine_id, components, machine_digest, install_id,
                            os_version, app_version, entitlement_proof, activated_at, last_validated_at,
                            versions_reported_at, counts_as_move)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $10, $11)`,
);

/**
 * Adds an activation of a machine.
 * @param countsAsMove whether the license had not known the machine
 */
export async function insertActivation(
  db: Queryable,
  activation: ActivationChange,
  activatedAt: Date,
  countsAsMove = true,
): Promise<void> {
  await execute(db, insertStatement, [...toParameters(activation), activatedAt, countsAsMove]);
}

const refreshStatement = defineCommand(
  'activation_refresh',
  `update activations
   set machine_id = coalesce($3, machine_id), components = $4, machine_digest = $5,
       install_id = coalesce($6, install_id), os_version = coalesce($7, os_version),
       app_version = coalesce($8, app_version), entitlement_proof = $9, versions_reported_at = $10
   where license_id = $1 and id = $2`,
);

/** Updates the slot of a machine that comes back changed: with a new disk, or a new version of the system. */
export async function refreshActivation(
  db: Queryable,
  activation: ActivationChange,
  refreshedAt: Date,
): Promise<void> {
  await execute(db, refreshStatement, [...toParameters(activation), refreshedAt]);
}

const storeProofStatement = defineCommand(
  'activation_store_proof',
  `update activations set entitlement_proof = $3
   where license_id = $1 and id = $2 and deactivated_at is null`,
);

/** Keeps the proof of an entitlement that was signed anew, so that the next ones need not be. */
export async function storeEntitlementProof(
  db: Queryable,
  licenseId: string,
  activationId: string,
  proof: string,
): Promise<void> {
  await execute(db, storeProofStatement, [licenseId, activationId, proof]);
}

const deactivateStatement = defineStatement(
  'activation_deactivate',
  Type.Object({ id: Type.String() }),
  `update activations set deactivated_at = $4
   where license_id = $1 and id = $2 and (machine_id is null or machine_id = $3) and deactivated_at is null
   returning id`,
);

/** Frees the slot of an activation; false when it was free already or has been bound to another machine meanwhile. */
export async function deactivateActivation(
  db: Queryable,
  licenseId: string,
  activationId: string,
  machineId: string,
  deactivatedAt: Date,
): Promise<boolean> {
  const parameters = [licenseId, activationId, machineId, deactivatedAt];
  return (await queryRow(db, deactivateStatement, parameters)) !== null;
}

const deactivateAllStatement = defineStatement(
  'activation_deactivate_all',
  Type.Object({ id: Type.String() }),
  `with active as (
     select id from activations
     where license_id = $1 and deactivated_at is null
     order by id
     for update
   )
   update activations a set deactivated_at = $2
   from active
   where a.license_id = $1 and a.id = active.id
   returning a.id`,
);

/** Deactivates every activation of a license that is active, and returns their ids. */
export async function deactivateAllActivations(
  db: Queryable,
  licenseId: string,
  deactivatedAt: Date,
): Promise<string[]> {
  const rows = await queryRows(db, deactivateAllStatement, [licenseId, deactivatedAt]);
  return rows.map(({ id }) => id);
}

function toParameters(activation: ActivationChange): (string | null)[] {
  return [
    activation.licenseId,
    activation.id,
    activation.machineId,
    formatComponents(activation.identity),
    activation.identity.digest,
    activation.installId,
    activation.osVersion,
    activation.appVersion,
    activation.entitlementProof,
  ];
}

/** Turns a row into a record. */
export function fromRow(row: Static<typeof ActivationRow>): ActivationRecord {
  return {
    licenseId: row.license_id,
    id: row.id,
    machineId: row.machine_id,
    identity: { ...row.components, digest: row.machine_digest },
    osVersion: row.os_version,
    appVersion: row.app_version,
    versionsReportedAt: row.versions_reported_at,
    activatedAt: row.activated_at,
    deactivatedAt: row.deactivated_at,
    lastValidatedAt: row.last_validated_at,
    validationCount: row.validation_count,
    entitlementProof: row.entitlement_proof,
  };
}
