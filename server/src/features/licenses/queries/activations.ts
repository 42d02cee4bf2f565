import { Type, type Static } from 'typebox';

import {
  Nullable,
  Timestamp,
  columnsOf,
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import { type MovePeriod } from './moves.ts';
import { formatComponents, type HashedIdentity } from '../fingerprint/identity.ts';

const Components = Type.Object({
  strong: Type.Array(Type.String()),
  medium: Type.Array(Type.String()),
  weak: Type.Array(Type.String()),
});

/** The columns of an activation that the service reads. */
export const ActivationRow = Type.Object({
  licenseId: Type.String(),
  id: Type.String(),
  machineId: Nullable.Text,
  components: Components,
  machineDigest: Type.String(),
  osVersion: Nullable.Text,
  appVersion: Nullable.Text,
  /** When the client reported both versions. */
  versionsReportedAt: Timestamp,
  activatedAt: Timestamp,
  deactivatedAt: Nullable.Timestamp,
  lastValidatedAt: Timestamp,
  validationCount: Type.Integer(),
  entitlementProof: Nullable.Text,
  airgappedUntil: Nullable.Timestamp,
});

/** A machine on a license, active or deactivated. */
export interface ActivationRecord extends Readonly<
  Omit<Static<typeof ActivationRow>, 'components' | 'machineDigest'>
> {
  readonly identity: HashedIdentity;
}

/** The values stored by an activation of a new machine or of an active one. */
export interface ActivationChange extends Pick<
  ActivationRecord,
  'licenseId' | 'id' | 'machineId' | 'identity' | 'osVersion' | 'appVersion' | 'entitlementProof'
> {
  readonly installId: string | null;
}

const COLUMNS = columnsOf(ActivationRow);

const listStatement = defineStatement(
  'activation_list',
  ActivationRow,
  `select ${COLUMNS} from activations
   where license_id = $1
   order by (deactivated_at is null) desc, activated_at, id
   limit $2`,
);

/** Lists the activations of a license: active ones first, then by age. */
export async function listActivationsOf(
  db: Queryable,
  licenseId: string,
  limit: number,
): Promise<ActivationRecord[]> {
  const rows = await queryRows(db, listStatement, [licenseId, limit]);
  return rows.map(toActivation);
}

const countActiveStatement = defineStatement(
  'activation_count_active',
  Type.Object({ count: Type.Integer() }),
  'select count(*) from activations where license_id = $1 and deactivated_at is null',
);

/** Counts the active machines of a license. */
export async function countActiveActivations(db: Queryable, licenseId: string): Promise<number> {
  return (await queryRow(db, countActiveStatement, [licenseId]))?.count ?? 0;
}

/** Matches a machine by its digest, or by a strong or medium component; no other row can be the same machine. */
const MAY_BE_MACHINE =
  "(machine_digest = $2 or components -> 'strong' ?| $3::text[] or components -> 'medium' ?| $4::text[])";

const listCandidatesStatement = defineStatement(
  'activation_list_candidates',
  ActivationRow,
  `select ${COLUMNS} from activations
   where license_id = $1 and deactivated_at is null and ${MAY_BE_MACHINE}
   order by activated_at, id`,
);

/**
 * Lists the active machines of a license that may be the given one, oldest first. The other machines are not
 * transferred, but the statement reads all machines of the license: an activation on one with 20,000 machines took 85
 * ms, on an empty license 30 ms, and the time grows with their number.
 */
export async function listCandidateActivations(
  db: Queryable,
  licenseId: string,
  { digest, strong, medium }: HashedIdentity,
): Promise<ActivationRecord[]> {
  const rows = await queryRows(db, listCandidatesStatement, [licenseId, digest, strong, medium]);
  return rows.map(toActivation);
}

const listMoveCandidatesStatement = defineStatement(
  'activation_list_move_candidates',
  ActivationRow,
  `select ${COLUMNS} from activations
   where license_id = $1 and counts_as_move and (activated_at > $5 or airgapped_until > $6) and ${MAY_BE_MACHINE}
   order by activated_at, id`,
);

/**
 * Lists the moves of a license that count now, active or not, whose machine may be the given one, oldest first.
 * @param period.since moves after it count, and those of machines that may still run without a connection
 */
export async function listMoveCandidates(
  db: Queryable,
  licenseId: string,
  { digest, strong, medium }: HashedIdentity,
  { since, now }: MovePeriod,
): Promise<ActivationRecord[]> {
  const parameters = [licenseId, digest, strong, medium, since, now];
  return (await queryRows(db, listMoveCandidatesStatement, parameters)).map(toActivation);
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
 * Lists a page of all activations, license by license.
 * @param after the last one of the previous page, or the nil UUID twice
 */
export async function listActivationsAfter(
  db: Queryable,
  after: Pick<ActivationRecord, 'licenseId' | 'id'>,
  limit: number,
): Promise<ActivationRecord[]> {
  const rows = await queryRows(db, listPageStatement, [after.licenseId, after.id, limit]);
  return rows.map(toActivation);
}

const listOfAllStatement = defineStatement(
  'activation_list_of_licenses',
  ActivationRow,
  `select ${COLUMNS} from activations
   where license_id = any ($1::uuid[]) and (license_id, id) > ($2, $3)
   order by license_id, id
   limit $4`,
);

/**
 * Lists a page of the activations of some licenses, license by license.
 * @param after the last one of the previous page, or the nil UUID twice
 */
export async function listActivationsOfAll(
  db: Queryable,
  licenseIds: readonly string[],
  after: Pick<ActivationRecord, 'licenseId' | 'id'>,
  limit: number,
): Promise<ActivationRecord[]> {
  const parameters = [licenseIds, after.licenseId, after.id, limit];
  return (await queryRows(db, listOfAllStatement, parameters)).map(toActivation);
}

const insertStatement = defineCommand(
  'activation_insert',
  `insert into activations (license_id, id, machine_id, components, machine_digest, install_id,
                            os_version, app_version, entitlement_proof, activated_at, last_validated_at,
                            versions_reported_at, counts_as_move)
   select license_id, id, machine_id, components::jsonb, machine_digest, install_id,
          os_version, app_version, entitlement_proof, $10, $10, $10, $11
   from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::text[], $8::text[], $9::text[])
     as new (license_id, id, machine_id, components, machine_digest, install_id,
             os_version, app_version, entitlement_proof)`,
);

/**
 * Adds activations.
 * @param countsAsMove whether the machines are new to their licenses
 */
export async function insertActivations(
  db: Queryable,
  activations: readonly ActivationChange[],
  activatedAt: Date,
  countsAsMove = true,
): Promise<void> {
  const rows = activations.map(toParameters);
  const columns = (rows[0] ?? []).map((_, index) => rows.map((row) => row[index] ?? null));
  await execute(db, insertStatement, [...columns, activatedAt, countsAsMove]);
}

const refreshStatement = defineCommand(
  'activation_refresh',
  `update activations
   set machine_id = coalesce($3, machine_id), components = $4, machine_digest = $5,
       install_id = coalesce($6, install_id), os_version = coalesce($7, os_version),
       app_version = coalesce($8, app_version), entitlement_proof = $9, versions_reported_at = $10
   where license_id = $1 and id = $2`,
);

/** Updates the activation of a machine that activates again, for example with a new disk or operating system. */
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

/** Stores the proof of a newly signed entitlement, so that the next request can reuse it. */
export async function storeEntitlementProof(
  db: Queryable,
  licenseId: string,
  activationId: string,
  proof: string,
): Promise<void> {
  await execute(db, storeProofStatement, [licenseId, activationId, proof]);
}

const setAirgappedStatement = defineCommand(
  'activation_set_airgapped',
  `update activations set airgapped_until = greatest(airgapped_until, $3)
   where license_id = $1 and id = $2`,
);

/** Records until when a machine may run without a connection; an earlier entitlement may be valid for longer. */
export async function setAirgappedUntil(
  db: Queryable,
  licenseId: string,
  activationId: string,
  until: Date,
): Promise<void> {
  await execute(db, setAirgappedStatement, [licenseId, activationId, until]);
}

const deactivateStatement = defineStatement(
  'activation_deactivate',
  Type.Object({ id: Type.String() }),
  `update activations set deactivated_at = $4
   where license_id = $1 and id = $2 and (machine_id is null or machine_id = $3) and deactivated_at is null
   returning id`,
);

/** Deactivates an activation; returns false when it is inactive or bound to another machine. */
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

const freeStatement = defineStatement(
  'activation_free',
  Type.Object({ id: Type.String(), isFreed: Type.Boolean() }),
  `with freed as (
     update activations set deactivated_at = $3
     where license_id = $1 and id = $2 and deactivated_at is null
     returning id
   )
   select a.id, exists (select from freed) as is_freed from activations a
   where a.license_id = $1 and a.id = $2`,
);

/** Deactivates an activation of any machine; returns whether it was active, and null if there is none. */
export async function freeActivation(
  db: Queryable,
  licenseId: string,
  activationId: string,
  now: Date,
): Promise<boolean | null> {
  return (await queryRow(db, freeStatement, [licenseId, activationId, now]))?.isFreed ?? null;
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

/** Deactivates all active machines of a license, and returns the ids of their activations. */
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

/** Converts a row of {@link ActivationRow}. */
export function toActivation({
  components,
  machineDigest,
  ...row
}: Static<typeof ActivationRow>): ActivationRecord {
  return { ...row, identity: { ...components, digest: machineDigest } };
}
