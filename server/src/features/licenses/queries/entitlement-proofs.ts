import { runHot } from '#server/db/hot-statement.ts';
import type { Queryable } from '#server/db/statement.ts';
import { toUuidArray } from '#server/db/text-arrays.ts';

/** The proof of an entitlement that was signed anew. */
export interface ProofRecord {
  readonly licenseId: string;
  readonly activationId: string;
  /** Base64url and dots only. */
  readonly proof: string;
}

const storeProofs = {
  name: 'activation_store_proofs',
  text: `
    update activations a
    set entitlement_proof = fresh.proof
    from unnest($1::uuid[], $2::uuid[], $3::text[]) as fresh (license_id, id, proof)
    where a.license_id = fresh.license_id and a.id = fresh.id`,
};

/** Keeps the proofs of newly signed entitlements, so that the next validation need not sign again. */
export async function storeEntitlementProofs(
  db: Queryable,
  records: readonly ProofRecord[],
): Promise<readonly true[]> {
  const newest = [...new Map(records.map((record) => [record.activationId, record])).values()];
  newest.sort((a, b) => (a.activationId < b.activationId ? -1 : 1));
  await runHot(db, storeProofs, [
    toUuidArray(newest.map((record) => record.licenseId)),
    toUuidArray(newest.map((record) => record.activationId)),
    `{${newest.map((record) => record.proof).join(',')}}`,
  ]);
  return records.map(() => true);
}
