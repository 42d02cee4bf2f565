import type { Catalog } from '#server/config/catalog-model.ts';

import type { LicenseDraft } from '../../billing/rules/compute-licenses.ts';
import { isPlausible } from '../../billing/rules/list-units.ts';
import type { SoldCatalog } from '../../billing/rules/plan-licenses.ts';
import { UNKNOWN_LICENSE, type ForeignLicense, type ForeignRow } from '../facts.ts';
import { computeSubscription } from '../rules/compute-subscription.ts';
import type { ProviderKey, ProviderRecord, ProviderRecords, UnreadableRecord } from './records.ts';

type Row = ForeignRow extends infer Each
  ? Each extends unknown
    ? Omit<Each, 'line'>
    : never
  : never;

/** Converts the records of an account to rows of an import, numbered from 1. */
export async function* toRows(
  records: ProviderRecords,
  catalog: () => Catalog,
): AsyncGenerator<ForeignRow> {
  let line = 0;
  for await (const record of records) {
    for (const row of toRecordRows(record, catalog())) {
      line += 1;
      yield { ...row, line };
    }
  }
}

/**
 * Converts a record: a running subscription becomes the licenses that its webhooks would create; a key becomes a license with that key.
 */
export function toRecordRows(
  record: ProviderRecord | UnreadableRecord,
  catalog: SoldCatalog,
): Row[] {
  if ('problem' in record) return [{ problem: `${record.id} cannot be read: ${record.problem}` }];
  const { provider, subscription, key, id } = record;
  if (subscription === null) {
    return key === null ? [] : [{ license: toKeyLicense(record, key) }];
  }
  const drafts = computeSubscription({ provider, ...subscription }, catalog);
  if (drafts.length === 0) {
    return [{ skipped: `The subscription ${id} was never paid, or has no recurring price.` }];
  }
  return drafts.map((draft, index): Row => {
    if (!isPlausible(draft.quantity)) {
      return { problem: `The subscription ${id} has no plausible quantity of ${draft.priceId}.` };
    }
    // The provider issues one key, for the first line.
    const own = index === 0 ? key : null;
    return { license: toSubscriptionLicense(record, draft, own, index) };
  });
}

function toSubscriptionLicense(
  record: ProviderRecord,
  draft: LicenseDraft,
  key: ProviderKey | null,
  index: number,
): ForeignLicense {
  const { id, subscription } = record;
  const snapshot = subscription?.snapshot;
  return {
    ...toCommon(record, key),
    // The first line has the id of the record, whatever further lines a subscription gets later.
    sourceId: index === 0 ? id : `${id}:${draft.lineKey}`,
    products: listProducts(draft),
    quantity: draft.quantity,
    expiresAt: draft.expiresAt,
    isSubscription: draft.hasGrace,
    cancelScheduledFor: draft.cancelScheduledFor,
    subscriptionId: snapshot?.subscriptionId ?? null,
    transactionId: snapshot?.transactionId ?? key?.transactionId ?? null,
    ...toStatus(draft, key),
  };
}

/** The price may be mapped; otherwise it is the product of the catalogue, of a bundle one of them. */
function listProducts({ priceId, product }: LicenseDraft): ForeignLicense['products'] {
  const price = { id: priceId, name: null };
  return product === null ? [price] : [price, { id: product.id, name: null }];
}

function toKeyLicense(record: ProviderRecord, key: ProviderKey): ForeignLicense {
  const { provider, id } = record;
  const { priceId, expiresAt, transactionId } = key;
  return {
    ...toCommon(record, key),
    sourceId: id,
    products: key.productIds.map((each) => ({ id: each, name: null })),
    prices: priceId === null ? [] : [{ provider, priceId }],
    expiresAt,
    transactionId,
    ...toStatus({ pausedAt: null }, key),
  };
}

function toCommon({ provider, customer, isTest }: ProviderRecord, key: ProviderKey | null) {
  return {
    ...UNKNOWN_LICENSE,
    provider,
    customerEmail: customer.email,
    customerName: customer.name,
    isTest,
    ...(key === null ? {} : toKeyFields(key)),
  };
}

function toKeyFields({ licenseKey, maxActivations, machines, details }: ProviderKey) {
  return {
    licenseKey,
    details,
    maxActivations: maxActivations ?? ('unlimited' as const),
    devices: machines.map(({ instanceId, name, activatedAt }) => ({
      id: instanceId,
      label: name,
      lastSeenAt: activatedAt,
    })),
  };
}

function toStatus(
  { pausedAt }: Pick<LicenseDraft, 'pausedAt'>,
  key: ProviderKey | null,
): Pick<ForeignLicense, 'status' | 'statusSince'> {
  if (key !== null && key.state !== 'valid') return { status: key.state, statusSince: null };
  if (pausedAt !== null) return { status: 'paused', statusSince: pausedAt };
  return { status: 'active', statusSince: null };
}
