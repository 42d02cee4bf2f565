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
  /** Whether `countValidations` has counted it, so that only the proof is stored. */
  readonly isCounted: boolean;
}

/** It changes no indexed column and returns nothing: in the usual batch all are hits, and the row count says so. */
const recordValidations = {
  name: 'activation_record_validations',
  text: `
    update activations a
    set validation_count = a.validation_count + hit.count,
        last_validated_at = greatest(a.last_validated_at, $7::timestamptz),
        install_id = coalesce(hit.install_id, a.install_id),
        usage_sharing = coalesce(hit.usage_sharing, a.usage_sharing),
        usage_sharing_told_at = case when hit.usage_sharing is null then a.usage_sharing_told_at else $7::timestamptz end,
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
 * Counts valid answers durably, all in one statement. Gives the ids of the activations that were deactivated in the
 * meantime, whose answers are not counted. Several answers about one activation are added up first, since one statement
 * changes a row only once.
 */
export async function recordValidationsOf(
  db: Queryable,
  records: readonly ValidationRecord[],
  validatedAt: Date,
): Promise<ReadonlySet<string>> {
  const counts = countByActivation(records);
  const hits = counts.size === records.length ? records.slice() : mergeByActivation(records);
  // Sorted by id, so that two processes hardly ever deadlock. The plan may still use another order, so a batch that loses
  // a deadlock is run again.
  hits.sort((a, b) => (a.activationId < b.activationId ? -1 : 1));
  const ids = [
    toUuidArray(hits.map((hit) => hit.licenseId)),
    toUuidArray(hits.map((hit) => hit.activationId)),
  ];
  const { rowCount } = await runHot(db, recordValidations, [
    ...ids,
    toUuidArray(hits.map((hit) => hit.installId)),
    toPlainArray(hits.map((hit) => hit.usageSharing)),
    toPlainArray(hits.map((hit) => hit.freshProof)),
    toPlainArray(hits.map((hit) => counts.get(hit.activationId) ?? 0)),
    validatedAt.toISOString(),
  ]);
  if (rowCount === hits.length) return NONE;
  const { rows } = await runHot(db, findStillActive, ids);
  const active = new Set(rows.map((row) => row[0]));
  return new Set([...counts.keys()].filter((id) => !active.has(id)));
}

const NONE: ReadonlySet<string> = new Set();

function countByActivation(records: readonly ValidationRecord[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { activationId, isCounted } of records) {
    counts.set(activationId, (counts.get(activationId) ?? 0) + (isCounted ? 0 : 1));
  }
  return counts;
}

/** Of several records about one activation, what the later one says counts. */
function mergeByActivation(records: readonly ValidationRecord[]): ValidationRecord[] {
  const merged = new Map<string, ValidationRecord>();
  for (const record of records) {
    const earlier = merged.get(record.activationId);
    merged.set(record.activationId, {
      ...record,
      installId: record.installId ?? earlier?.installId ?? null,
      usageSharing: record.usageSharing ?? earlier?.usageSharing ?? null,
      freshProof: record.freshProof ?? earlier?.freshProof ?? null,
    });
  }
  return [...merged.values()];
}
