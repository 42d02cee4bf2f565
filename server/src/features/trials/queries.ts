import { Type, type Static } from 'typebox';

import {
  Bytes,
  Nullable,
  columnsOf,
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import { StatusRow } from '../licenses/facts.ts';

const listByClaimsStatement = defineStatement(
  'trial_list_by_claims',
  Type.Object({ claim: Type.String(), licenseId: Type.String() }),
  `select encode(claim_hash, 'hex') as claim, license_id
   from trial_claims where claim_hash = any ($1::bytea[])`,
);

/** Returns the licenses of the claims that are taken, by claim. */
export async function listTrialsByClaims(
  db: Queryable,
  claims: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await queryRows(db, listByClaimsStatement, [toBytes(claims)]);
  return new Map(rows.map((row) => [row.claim, row.licenseId]));
}

const TrialRow = Type.Object({
  ...StatusRow.properties,
  keySealed: Bytes,
});

const TrialActivationRow = Type.Object({
  activationId: Type.String(),
  machineId: Nullable.Text,
  machineDigest: Type.String(),
  isActive: Type.Boolean(),
  entitlementProof: Nullable.Text,
});

/** A granted trial, new or existing: its license, and its active or else its latest activation. */
export type Trial = Readonly<Static<typeof TrialRow> & Static<typeof TrialActivationRow>>;

const listStatement = defineStatement(
  'trial_list',
  Type.Object({ ...TrialRow.properties, ...TrialActivationRow.properties }),
  `select ${columnsOf(TrialRow, 'l')}, ${columnsOf(TrialActivationRow, 'a')}
   from unnest($1::uuid[]) as requested (id)
   join licenses l on l.id = requested.id
   cross join lateral (
     select *, id as activation_id, deactivated_at is null as is_active from activations
     where license_id = l.id
     order by (deactivated_at is null) desc, activated_at desc, id desc
     limit 1
   ) a`,
);

/** Lists trials by the ids of their licenses. */
export async function listTrials(db: Queryable, licenseIds: readonly string[]): Promise<Trial[]> {
  return queryRows(db, listStatement, [licenseIds]);
}

const insertFreeStatement = defineStatement(
  'trial_insert_free_claims',
  Type.Object({ claim: Type.String() }),
  `insert into trial_claims (claim_hash, license_id, claimed_at)
   select claim_hash, license_id, $3
   from unnest($1::bytea[], $2::uuid[]) as claim (claim_hash, license_id)
   order by claim_hash
   on conflict (claim_hash) do nothing
   returning encode(claim_hash, 'hex') as claim`,
);

/** A claim and its license. */
export interface Claim {
  readonly claim: string;
  readonly licenseId: string;
}

/**
 * Inserts the claims that are free, and returns them. Waits for another transaction that inserts the same claims; the order
 * of the rows prevents a deadlock.
 */
export async function insertFreeClaims(
  db: Queryable,
  claims: readonly Claim[],
  claimedAt: Date,
): Promise<ReadonlySet<string>> {
  const rows = await queryRows(db, insertFreeStatement, [
    toBytes(claims.map(({ claim }) => claim)),
    claims.map(({ licenseId }) => licenseId),
    claimedAt,
  ]);
  return new Set(rows.map((row) => row.claim));
}

const deleteStatement = defineCommand(
  'trial_delete_claims',
  'delete from trial_claims where claim_hash = any ($1::bytea[])',
);

/** Deletes claims. */
export async function deleteClaims(db: Queryable, claims: readonly string[]): Promise<void> {
  await execute(db, deleteStatement, [toBytes(claims)]);
}

/** The name of the advisory lock. */
const CLAIMS_LOCK = 'latchkey trial claims';

const lockStatement = defineCommand(
  'trial_claims_lock',
  `select pg_advisory_xact_lock(hashtextextended($1, 0))`,
);

/** Serializes processes that insert claims under different master secrets, until the transaction ends. */
export async function lockTrialClaims(db: Queryable): Promise<void> {
  await execute(db, lockStatement, [CLAIMS_LOCK]);
}

const copyClaimsStatement = defineCommand(
  'trial_copy_claims',
  `insert into trial_claims (claim_hash, license_id, claimed_at)
   select distinct on (claim_hash) claim_hash, license_id, l.created_at
   from unnest($1::bytea[], $2::uuid[]) as claim (claim_hash, license_id)
   join licenses l on l.id = claim.license_id
   order by claim_hash, license_id
   on conflict (claim_hash) do nothing`,
);

/** Replaces claims by those of the same machines under the current master secret. */
export async function replaceClaims(
  db: Queryable,
  current: readonly Claim[],
  outdated: readonly string[],
): Promise<void> {
  await execute(db, copyClaimsStatement, [
    toBytes(current.map(({ claim }) => claim)),
    current.map(({ licenseId }) => licenseId),
  ]);
  await execute(db, deleteStatement, [toBytes(outdated)]);
}

function toBytes(hexadecimals: readonly string[]): Buffer[] {
  return hexadecimals.map((digits) => Buffer.from(digits, 'hex'));
}
