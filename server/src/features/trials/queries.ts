import { Type } from 'typebox';

import {
  Bytes,
  Nullable,
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

const listByClaimsStatement = defineStatement(
  'trial_list_by_claims',
  Type.Object({ claim: Type.String(), license_id: Type.String() }),
  `select encode(claim_hash, 'hex') as claim, license_id
   from trial_claims where claim_hash = any ($1::bytea[])`,
);

/** Returns the licenses of the claims that are taken, by claim. */
export async function listTrialsByClaims(
  db: Queryable,
  claims: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await queryRows(db, listByClaimsStatement, [toBytes(claims)]);
  return new Map(rows.map((row) => [row.claim, row.license_id]));
}

const TrialRow = Type.Object({
  id: Type.String(),
  product_id: Type.String(),
  expires_at: Nullable.Timestamp,
  cancel_scheduled_for: Nullable.Timestamp,
  canceled_at: Nullable.Timestamp,
  paused_at: Nullable.Timestamp,
  suspended_at: Nullable.Timestamp,
  refunded_at: Nullable.Timestamp,
  revoked_at: Nullable.Timestamp,
  key_sealed: Bytes,
  activation_id: Type.String(),
  machine_id: Nullable.Text,
  machine_digest: Type.String(),
  deactivated_at: Nullable.Timestamp,
  entitlement_proof: Nullable.Text,
});

const listStatement = defineStatement(
  'trial_list',
  TrialRow,
  `select l.id, l.product_id, l.expires_at, l.cancel_scheduled_for, l.canceled_at, l.paused_at, l.suspended_at,
          l.refunded_at, l.revoked_at, l.key_sealed,
          a.id as activation_id, a.machine_id, a.machine_digest, a.deactivated_at, a.entitlement_proof
   from unnest($1::uuid[]) as requested (id)
   join licenses l on l.id = requested.id
   cross join lateral (
     select * from activations
     where license_id = l.id
     order by (deactivated_at is null) desc, activated_at desc, id desc
     limit 1
   ) a`,
);

/** Lists trials by the ids of their licenses, each with its active or else its latest activation. */
export async function listTrials(db: Queryable, licenseIds: readonly string[]) {
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

/** The license of a trial to store. */
interface NewTrialLicense {
  readonly licenseId: string;
  readonly keySealed: Buffer;
  readonly keyHint: string;
}

/** The terms of trials that are granted together. */
export interface TrialTerms {
  readonly productId: string;
  readonly tier: string;
  readonly features: readonly string[];
  readonly grantedAt: Date;
  readonly expiresAt: Date;
}

const insertLicensesStatement = defineCommand(
  'trial_insert_licenses',
  `insert into licenses (id, product_id, tier, features, max_activations, trial, expires_at,
                         key_sealed, key_hint, created_at)
   select id, $4, $5, $6::text[], 1, true, $7, key_sealed, key_hint, $8
   from unnest($1::uuid[], $2::bytea[], $3::text[]) as trial (id, key_sealed, key_hint)`,
);

/** Stores the licenses of trials. */
export async function insertTrialLicenses(
  db: Queryable,
  trials: readonly NewTrialLicense[],
  terms: TrialTerms,
): Promise<void> {
  await execute(db, insertLicensesStatement, [
    trials.map((trial) => trial.licenseId),
    trials.map((trial) => trial.keySealed),
    trials.map((trial) => trial.keyHint),
    terms.productId,
    terms.tier,
    terms.features,
    terms.expiresAt,
    terms.grantedAt,
  ]);
}

function toBytes(hexadecimals: readonly string[]): Buffer[] {
  return hexadecimals.map((digits) => Buffer.from(digits, 'hex'));
}
