import {
  runHot,
  type TextRow,
  toByteaArray,
  toPlainArray,
  toTextArray,
  toUuidArray,
} from '#server/db/hot-statement.ts';
import { defineCommand, execute, type Queryable } from '#server/db/statement.ts';

import {
  LICENSE_ENDS,
  RARE_TIMESTAMPS,
  SUBSCRIPTION,
  TRIAL,
  readLicense,
  readRareTimestamps,
  type FoundLicense,
  type KeyLookup,
} from './find-by-key.ts';

/** A client's request to validate its activation. */
export interface ValidationRequest extends KeyLookup {
  readonly activationId: string;
  /** As the client sent it. */
  readonly machineId: string;
  readonly installId: string | null;
  readonly usageSharing: boolean | null;
}

/** The license and activation of a validation. */
export interface ValidationFacts extends FoundLicense {
  /** Whether the validation was counted, which is the case only if it is valid by all rules. */
  readonly isCounted: boolean;
  readonly decidedAt: Date;
}

/** The time of the decision, and the tokens that may be sent again at that time. */
export interface ValidationTime {
  readonly now: Date;
  /** Bounds of `entitlement_proof` in byte order: the first fresh proof, and the first that is not fresh any more. */
  readonly freshProofs: { readonly from: string; readonly before: string };
}

/** A bit beside those of the license. */
const COUNTED = 4;

/**
 * Reads the facts of validations, and counts those that are valid by every rule, in one round trip and one commit: the
 * license has no rare timestamp and no past end, the activation is active and bound to this very machine, and its token
 * is fresh. The rules decide all others. Of several requests for one activation only one is counted here, because a
 * statement changes a row once. PostgreSQL checks the conditions of `counted` again on the newest version of a row that
 * another transaction has just changed.
 */
const countStatement = {
  name: 'activation_count_validations',
  text: `
    with found as materialized (
      select
        request.position,
        request.machine_id as request_machine_id,
        request.install_id,
        request.usage_sharing,
        l.id as license_id,
        l.product_id,
        l.trial,
        l.subscription,
        l.expires_at,
        ${LICENSE_ENDS} as license_ends,
        ${RARE_TIMESTAMPS} as rare_timestamps,
        a.id as activation_id,
        a.machine_id,
        a.entitlement_proof
      from unnest($1::bytea[], $2::uuid[], $3::text[], $4::uuid[], $5::boolean[]) with ordinality
        as request (key_hash, activation_id, machine_id, install_id, usage_sharing, position)
      join license_keys k on k.key_hash = request.key_hash
      join licenses l on l.id = k.license_id
      left join activations a on a.license_id = l.id and a.id = request.activation_id
    ), counted as (
      update activations a
      set validation_count = a.validation_count + 1,
          last_validated_at = greatest(a.last_validated_at, $6::timestamptz),
          install_id = coalesce(f.install_id, a.install_id),
          usage_sharing = coalesce(f.usage_sharing, a.usage_sharing),
          usage_sharing_reported_at = case when f.usage_sharing is null then a.usage_sharing_reported_at else $6::timestamptz end
      from found f
      where a.license_id = f.license_id and a.id = f.activation_id
        and f.rare_timestamps is null
        and (f.expires_at is null or date_trunc('milliseconds', f.expires_at) > $6::timestamptz)
        and a.deactivated_at is null
        and a.machine_id = f.request_machine_id
        and a.entitlement_proof collate "C" >= $7 and a.entitlement_proof collate "C" < $8
      returning f.position
    )
    select
      f.position,
      f.license_id,
      f.product_id,
      f.trial::int * ${TRIAL} + f.subscription::int * ${SUBSCRIPTION} + (c.position is not null)::int * ${COUNTED},
      f.license_ends,
      case when c.position is null then f.rare_timestamps end,
      case when c.position is null then f.activation_id end,
      case when c.position is null then f.machine_id end,
      f.entitlement_proof
    from found f left join counted c on c.position = f.position`,
};

/**
 * Returns the facts of each validation in order, null for an unknown key, and counts durably those that are valid by
 * every rule. One statement: it takes effect completely or not at all, also when it throws.
 */
export async function countValidations(
  db: Queryable,
  requests: readonly ValidationRequest[],
  { now, freshProofs }: ValidationTime,
): Promise<readonly (ValidationFacts | null)[]> {
  // Rows are locked in this order, so that two processes rarely deadlock.
  const order = requests.map((request, index) => ({ request, index }));
  order.sort((a, b) => (a.request.activationId < b.request.activationId ? -1 : 1));
  const { rows } = await runHot(db, countStatement, [
    toByteaArray(order.map(({ request }) => request.keyHash)),
    toUuidArray(order.map(({ request }) => request.activationId)),
    toTextArray(order.map(({ request }) => request.machineId)),
    toUuidArray(order.map(({ request }) => request.installId)),
    toPlainArray(order.map(({ request }) => request.usageSharing)),
    now.toISOString(),
    freshProofs.from,
    freshProofs.before,
  ]);
  const facts: (ValidationFacts | null)[] = requests.map(() => null);
  for (const row of rows) {
    const sent = order[Number(row[0]) - 1];
    if (sent !== undefined) facts[sent.index] = readFacts(row, sent.request, now);
  }
  return facts;
}

function readFacts(row: TextRow, request: ValidationRequest, now: Date): ValidationFacts {
  const isCounted = (Number(row[3]) & COUNTED) !== 0;
  const timestamps = readRareTimestamps(row[5]);
  const license = readLicense(row, timestamps);
  const id = isCounted ? request.activationId : (row[6] ?? null);
  const activation =
    id === null
      ? null
      : {
          id,
          licenseId: license.id,
          machineId: isCounted ? request.machineId : (row[7] ?? null),
          deactivatedAt: timestamps.deactivatedAt,
          entitlementProof: row[8] ?? null,
        };
  return { license, activation, isCounted, decidedAt: now };
}

/** A valid answer to store before it is sent. */
export interface ValidationRecord {
  readonly licenseId: string;
  readonly activationId: string;
  readonly installId: string | null;
  readonly usageSharing: boolean | null;
  /** The proof of a newly signed token (digits, letters, `.`, `-` and `_`); null when the stored one remains. */
  readonly newProof: string | null;
  /** Whether `countValidations` has counted it, so that only the proof is stored. */
  readonly isCounted: boolean;
}

/** Changes no indexed column and returns no rows: usually all activations are active, which the row count shows. */
const recordStatement = {
  name: 'activation_record_validations',
  text: `
    update activations a
    set validation_count = a.validation_count + valid.count,
        last_validated_at = greatest(a.last_validated_at, $7::timestamptz),
        install_id = coalesce(valid.install_id, a.install_id),
        usage_sharing = coalesce(valid.usage_sharing, a.usage_sharing),
        usage_sharing_reported_at = case when valid.usage_sharing is null then a.usage_sharing_reported_at else $7::timestamptz end,
        entitlement_proof = coalesce(valid.proof, a.entitlement_proof)
    from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::boolean[], $5::text[], $6::integer[])
      as valid (license_id, id, install_id, usage_sharing, proof, count)
    where a.license_id = valid.license_id and a.id = valid.id and a.deactivated_at is null`,
};

const findActiveStatement = {
  name: 'activation_find_still_active',
  text: `
    select a.id
    from unnest($1::uuid[], $2::uuid[]) as valid (license_id, id)
    join activations a on a.license_id = valid.license_id and a.id = valid.id
    where a.deactivated_at is null`,
};

const NO_IDS: ReadonlySet<string> = new Set();

/**
 * Counts valid answers and stores their tokens, all in one statement. Returns the ids of the activations that have
 * become inactive, whose answers are not counted. Several answers about one activation are added up first, because a
 * statement changes a row only once.
 */
export async function recordValidations(
  db: Queryable,
  records: readonly ValidationRecord[],
  validatedAt: Date,
): Promise<ReadonlySet<string>> {
  const counts = countByActivation(records);
  const merged = counts.size === records.length ? records.slice() : mergeByActivation(records);
  // Sorted by id, so that two processes rarely deadlock. The plan may still use another order, so a batch that loses
  // a deadlock is run again.
  merged.sort((a, b) => (a.activationId < b.activationId ? -1 : 1));
  const ids = [
    toUuidArray(merged.map((record) => record.licenseId)),
    toUuidArray(merged.map((record) => record.activationId)),
  ];
  const { rowCount } = await runHot(db, recordStatement, [
    ...ids,
    toUuidArray(merged.map((record) => record.installId)),
    toPlainArray(merged.map((record) => record.usageSharing)),
    toPlainArray(merged.map((record) => record.newProof)),
    toPlainArray(merged.map((record) => counts.get(record.activationId) ?? 0)),
    validatedAt.toISOString(),
  ]);
  if (rowCount === merged.length) return NO_IDS;
  const { rows } = await runHot(db, findActiveStatement, ids);
  const active = new Set(rows.map((row) => row[0]));
  return new Set([...counts.keys()].filter((id) => !active.has(id)));
}

function countByActivation(records: readonly ValidationRecord[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { activationId, isCounted } of records) {
    counts.set(activationId, (counts.get(activationId) ?? 0) + (isCounted ? 0 : 1));
  }
  return counts;
}

/** Merges the records of each activation; a later value replaces an earlier one. */
function mergeByActivation(records: readonly ValidationRecord[]): ValidationRecord[] {
  const merged = new Map<string, ValidationRecord>();
  for (const record of records) {
    const earlier = merged.get(record.activationId);
    merged.set(record.activationId, {
      ...record,
      installId: record.installId ?? earlier?.installId ?? null,
      usageSharing: record.usageSharing ?? earlier?.usageSharing ?? null,
      newProof: record.newProof ?? earlier?.newProof ?? null,
    });
  }
  return [...merged.values()];
}

const bindStatement = defineCommand(
  'activation_bind_machine',
  `update activations set machine_id = $3
   where license_id = $1 and id = $2 and machine_id is null`,
);

/** Binds an activation to the first machine id that it is validated with; returns false when it is bound already. */
export async function bindMachine(
  db: Queryable,
  licenseId: string,
  activationId: string,
  machineId: string,
): Promise<boolean> {
  return (await execute(db, bindStatement, [licenseId, activationId, machineId])) === 1;
}
