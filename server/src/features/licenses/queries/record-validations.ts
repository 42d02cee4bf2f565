import { runHot } from '#server/db/hot-statement.ts';
import type { Queryable } from '#server/db/statement.ts';
import { toPlainArray, toUuidArray } from '#server/db/text-arrays.ts';

/** A valid answer that is about to be given. */
export interface ValidationRecord {
  readonly licenseId: string;
  readonly activationId: string;
  readonly installId: string | null;
  readonly usageSharing: boolean | null;
  /** The proof of an entitlement that was signed anew (digits, letters, `.`, `-` and `_`); null when the last one serves. */
  readonly freshProof: string | null;
  readonly validatedAt: Date;
}

/** No column of an index changes, and nothing is returned: the usual batch is all hits, and its count says so. */
const recordValidations = {
  name: 'activation_record_validations',
  text: `
    update activations a
    set validation_count = a.validation_count + hit.count,
        last_validated_at = greatest(a.last_validated_at, $7::timestamptz),
        install_id = coalesce(hit.install_id, a.install_id),
        usage_sharing = coalesce(hit.usage_sharing, a.usage_sharing),
        entitlement_proof = coalesce(hit.proof, a.entitlement_proof)
    from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::boolean[], $5::text[], $6::integer[])
      as hit (license_id, id, install_id, usage_sharing, proof, count)
    where a.license_id = hit.license_id and a.id = hit.id and a.deactivated_at is null`,
};

const findStillActive = {
  name: 'activation_find_still_active',
  text: `
    select a.id
    from unnest($1::uuid[], $2::uuid[]) as hit (license_id, id)
    join activations a on a.license_id = hit.license_id and a.id = hit.id
    where a.deactivated_at is null`,
};

/**
 * Counts valid answers, durably: one statement for all, in order; false for an activation that was deactivated in the
 * meantime. Several answers about one activation are counted together, for one statement changes a row only once.
 */
export async function recordValidationsOf(
  db: Queryable,
  records: readonly ValidationRecord[],
): Promise<readonly boolean[]> {
  const hits = mergeByActivation(records);
  const ids = [
    toUuidArray(hits.map((hit) => hit.licenseId)),
    toUuidArray(hits.map((hit) => hit.activationId)),
  ];
  const { rowCount } = await runHot(db, recordValidations, [
    ...ids,
    toUuidArray(hits.map((hit) => hit.installId)),
    toPlainArray(hits.map((hit) => hit.usageSharing)),
    toPlainArray(hits.map((hit) => hit.freshProof)),
    toPlainArray(hits.map((hit) => hit.count)),
    latest(records).toISOString(),
  ]);
  if (rowCount === hits.length) return records.map(() => true);
  const { rows } = await runHot(db, findStillActive, ids);
  const active = new Set(rows.map((row) => row[0]));
  return records.map((record) => active.has(record.activationId));
}

interface Hit extends ValidationRecord {
  readonly count: number;
}

/** Sorted, so that two processes take the rows in the same order and do not deadlock. */
function mergeByActivation(records: readonly ValidationRecord[]): Hit[] {
  const hits = new Map<string, Hit>();
  for (const record of records) {
    const known = hits.get(record.activationId);
    hits.set(record.activationId, {
      ...record,
      installId: record.installId ?? known?.installId ?? null,
      usageSharing: record.usageSharing ?? known?.usageSharing ?? null,
      freshProof: record.freshProof ?? known?.freshProof ?? null,
      count: (known?.count ?? 0) + 1,
    });
  }
  return [...hits.values()].sort((a, b) => (a.activationId < b.activationId ? -1 : 1));
}

function latest(records: readonly ValidationRecord[]): Date {
  return new Date(Math.max(...records.map((record) => record.validatedAt.getTime())));
}
