import { runHot, type TextRow } from '#server/db/hot-statement.ts';
import type { Queryable } from '#server/db/statement.ts';
import { toByteaArray, toPlainArray, toTextArray, toUuidArray } from '#server/db/text-arrays.ts';

import type { KeyLookup } from './find-by-key.ts';
import {
  EXCEPTIONS,
  readExceptions,
  readMoment,
  required,
  toStanding,
  type KeyFinding,
} from './license-columns.ts';

/** One client's question whether its activation may run. */
export interface ValidationQuestion extends KeyLookup {
  readonly activationId: string;
  /** As the client sent it. */
  readonly machineId: string;
  readonly installId: string | null;
  readonly usageSharing: boolean | null;
}

/** What a validation is about. */
export interface ValidationFinding extends KeyFinding {
  /** Whether the validation was counted, which is done only where it is valid by any rule. */
  readonly isCounted: boolean;
  /** The moment at which it is to be decided. */
  readonly decidedAt: Date;
}

/** When validations are decided, and which tokens are young enough then to be sent again. */
export interface ValidationMoment {
  readonly now: Date;
  /** Of `entitlement_proof`, in byte order: the first fresh one, and the first that is not fresh any more. */
  readonly freshProofs: { readonly from: string; readonly before: string };
}

/** Bits of the column that packs what is true or false. */
const [TRIAL, SUBSCRIPTION, COUNTED] = [1, 2, 4];

/**
 * Reads what validations are about and counts those that need no judgement, in one round trip and one commit: the license
 * has no exception and no past end, the activation is in use by this very machine, and its token is fresh. All others are
 * left to the rules, which then know all facts. Of several about one activation only one is counted here, for a statement
 * changes a row once. What is checked in `counted` is checked again on the newest row when somebody else has just
 * changed it.
 */
const countValidationsStatement = {
  name: 'activation_count_validations',
  text: `
    with finding as materialized (
      select
        asked.position,
        asked.machine_id as asked_machine_id,
        asked.install_id,
        asked.usage_sharing,
        l.id as license_id,
        l.product_id,
        l.trial,
        l.subscription,
        l.expires_at,
        ${EXCEPTIONS} as exceptions,
        a.id as activation_id,
        a.machine_id,
        a.entitlement_proof
      from unnest($1::bytea[], $2::uuid[], $3::text[], $4::uuid[], $5::boolean[]) with ordinality
        as asked (key_hash, activation_id, machine_id, install_id, usage_sharing, position)
      join license_keys k on k.key_hash = asked.key_hash
      join licenses l on l.id = k.license_id
      left join activations a on a.license_id = l.id and a.id = asked.activation_id
    ), counted as (
      update activations a
      set validation_count = a.validation_count + 1,
          last_validated_at = greatest(a.last_validated_at, $6::timestamptz),
          install_id = coalesce(f.install_id, a.install_id),
          usage_sharing = coalesce(f.usage_sharing, a.usage_sharing),
          usage_sharing_told_at = case when f.usage_sharing is null then a.usage_sharing_told_at else $6::timestamptz end
      from finding f
      where a.license_id = f.license_id and a.id = f.activation_id
        and f.exceptions is null
        and (f.expires_at is null or date_trunc('milliseconds', f.expires_at) > $6::timestamptz)
        and a.deactivated_at is null
        and a.machine_id = f.asked_machine_id
        and a.entitlement_proof collate "C" >= $7 and a.entitlement_proof collate "C" < $8
      returning f.position
    )
    select
      f.position,
      f.license_id,
      f.product_id,
      f.trial::int * ${TRIAL} + f.subscription::int * ${SUBSCRIPTION} + (c.position is not null)::int * ${COUNTED},
      extract(epoch from f.expires_at) * 1000,
      f.entitlement_proof,
      case when c.position is null then f.exceptions end,
      case when c.position is null then f.activation_id end,
      case when c.position is null then f.machine_id end
    from finding f left join counted c on c.position = f.position`,
};

/**
 * Finds what validations are about, and counts those durably that are valid by any rule; null for a key that nobody has.
 * One statement, so either all of it has happened when this throws, or nothing.
 */
export async function countValidations(
  db: Queryable,
  questions: readonly ValidationQuestion[],
  { now, freshProofs }: ValidationMoment,
): Promise<readonly (ValidationFinding | null)[]> {
  // Rows are locked in this order, so that two processes hardly ever deadlock.
  const order = questions.map((question, index) => ({ question, index }));
  order.sort((a, b) => (a.question.activationId < b.question.activationId ? -1 : 1));
  const { rows } = await runHot(db, countValidationsStatement, [
    toByteaArray(order.map(({ question }) => question.keyHash)),
    toUuidArray(order.map(({ question }) => question.activationId)),
    toTextArray(order.map(({ question }) => question.machineId)),
    toUuidArray(order.map(({ question }) => question.installId)),
    toPlainArray(order.map(({ question }) => question.usageSharing)),
    now.toISOString(),
    freshProofs.from,
    freshProofs.before,
  ]);
  const findings: (ValidationFinding | null)[] = questions.map(() => null);
  for (const row of rows) {
    const asked = order[Number(row[0]) - 1];
    if (asked !== undefined) findings[asked.index] = readFinding(row, asked.question, now);
  }
  return findings;
}

function readFinding(row: TextRow, question: ValidationQuestion, now: Date): ValidationFinding {
  const flags = Number(row[3]);
  const isCounted = (flags & COUNTED) !== 0;
  const exceptions = readExceptions(row[6]);
  const license = toStanding(
    {
      id: required(row[1]),
      productId: required(row[2]),
      trial: (flags & TRIAL) !== 0,
      subscription: (flags & SUBSCRIPTION) !== 0,
      expiresAt: readMoment(row[4]),
    },
    exceptions,
  );
  const id = isCounted ? question.activationId : (row[7] ?? null);
  const activation =
    id === null
      ? null
      : {
          id,
          licenseId: license.id,
          machineId: isCounted ? question.machineId : (row[8] ?? null),
          deactivatedAt: exceptions.deactivatedAt,
          entitlementProof: row[5] ?? null,
        };
  return { license, activation, isCounted, decidedAt: now };
}
