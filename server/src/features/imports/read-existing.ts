import type { Queryable } from '#server/db/statement.ts';

import { hashWithAllSecrets } from '../licenses/license-key.ts';
import { listStoredKeys } from '../licenses/queries/license-keys.ts';
import { listLicensesByIds } from '../licenses/queries/licenses.ts';
import type { ImportDependencies } from './dependencies.ts';
import type { ImportSource, KnownLicense } from './facts.ts';
import { listKnownLicenses } from './queries/imported-licenses.ts';
import {
  listSoldLicenses,
  listUnnamedLicenses,
  type PaymentName,
  type UnnamedSubscription,
} from './queries/sold-licenses.ts';
import type { EvaluatedLicense, ExistingLicenses } from './rules/decide-row.ts';

/** Reads the licenses that exist already, for the rows of a batch. */
export async function readExisting(
  deps: ImportDependencies,
  db: Queryable,
  source: ImportSource,
  licenses: readonly EvaluatedLicense[],
): Promise<ExistingLicenses> {
  const known = await listKnownLicenses(
    db,
    source,
    licenses.map(({ knownAs }) => knownAs),
  );
  const hashes = licenses.flatMap(({ licenseKey }) =>
    licenseKey === null ? [] : hashWithAllSecrets(deps, licenseKey),
  );
  const stored = await listStoredKeys(db, [...new Set(hashes)]);
  const sold = await listSoldLicenses(db, source, licenses.flatMap(listPaymentNames));
  const unnamed = await listUnnamedLicenses(db, source, licenses.flatMap(listUnnamed));
  const ids = [...known, ...stored, ...sold, ...unnamed].map(({ licenseId }) => licenseId);
  const records = await listLicensesByIds(db, [...new Set(ids)]);
  const recordOf = new Map(records.map((record) => [record.id, record]));
  const ownerOf = new Map(stored.map(({ keyHash, licenseId }) => [keyHash, licenseId]));
  const knownOf = new Map<string, KnownLicense>(known.map((each) => [each.sourceId, each]));
  const soldOf = Map.groupBy(sold, toText);
  const unnamedOf = Map.groupBy(unnamed, toUnnamedText);
  return {
    findKnown: ({ knownAs }) => knownOf.get(knownAs) ?? null,
    findRecord: (id) => recordOf.get(id) ?? null,
    findByKey: ({ licenseKey }) => {
      if (licenseKey === null) return null;
      const owners = hashWithAllSecrets(deps, licenseKey).flatMap(
        (hash) => ownerOf.get(hash) ?? [],
      );
      return recordOf.get(owners[0] ?? '') ?? null;
    },
    listSold: (license) => {
      const named = listPaymentNames(license).flatMap((name) => soldOf.get(toText(name)) ?? []);
      const others = listUnnamed(license).flatMap(
        (each) => unnamedOf.get(toUnnamedText(each)) ?? [],
      );
      const all = [
        ...named,
        ...others.map((each) => ({ ...each, kind: 'end' as const, isPaid: true })),
      ];
      return all.flatMap(({ kind, licenseId, hasAddedKey, isPaid }) => {
        const record = recordOf.get(licenseId);
        return record === undefined ? [] : [{ kind, license: record, hasAddedKey, isPaid }];
      });
    },
  };
}

function listPaymentNames({
  provider,
  subscriptionId,
  transactionId,
}: EvaluatedLicense): PaymentName[] {
  const ids = [
    { kind: 'subscription' as const, name: subscriptionId },
    { kind: 'transaction' as const, name: transactionId },
  ];
  return ids.flatMap(({ kind, name }) => (name === null ? [] : [{ provider, kind, name }]));
}

/** A subscription that may be known here under another kind of id only. */
function listUnnamed({
  subscription,
  provider,
  subscriptionId,
  transactionId,
  customerEmail,
  expiresAt,
}: EvaluatedLicense): UnnamedSubscription[] {
  const hasOneId = (subscriptionId === null) !== (transactionId === null);
  if (!subscription || !hasOneId || customerEmail === null || expiresAt === null) return [];
  const namedBy = subscriptionId === null ? 'transaction' : 'subscription';
  const end = expiresAt.toISOString();
  return [{ provider, namedBy, email: customerEmail.toLowerCase(), end }];
}

function toUnnamedText({
  namedBy,
  email,
  end,
}: Pick<UnnamedSubscription, 'namedBy' | 'email' | 'end'>): string {
  return `${namedBy} ${end} ${email}`;
}

function toText({ provider, kind, name }: PaymentName): string {
  return `${provider ?? ''} ${kind} ${name}`;
}
