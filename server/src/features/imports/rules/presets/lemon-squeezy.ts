import { UNKNOWN_LICENSE, type ForeignLicense, type ForeignProduct } from '../../facts.ts';
import {
  pickDetails,
  readCount,
  readDate,
  readFlag,
  readObject,
  readText,
  type SourceRecord,
} from '../read-values.ts';
import type { Preset, RelatedFact, RelatedRecords } from './preset.ts';

/**
 * License keys of Lemon Squeezy as its interface returns them (JSON:API, `GET /v1/license-keys`), with its instances, orders
 * and subscriptions. https://docs.lemonsqueezy.com/api/license-keys
 */
export const lemonSqueezy: Preset = {
  columns: null,
  read(record, related) {
    if (record['type'] !== 'license-keys') return null;
    return { license: toLicense(record, related) };
  },
  relate(record) {
    const attributes = readObject(record, 'attributes');
    if (record['type'] === 'license-key-instances') return toDevice(attributes);
    if (record['type'] === 'orders') return toOrder(record, attributes);
    return record['type'] === 'subscriptions' ? toSubscription(record, attributes) : null;
  },
};

const DETAILS = [
  'store_id',
  'customer_id',
  'order_id',
  'order_item_id',
  'product_id',
  'variant_id',
  'product_name',
  'variant_name',
];

function toLicense(record: SourceRecord, related: RelatedRecords): ForeignLicense {
  const attributes = readObject(record, 'attributes');
  const id = readText(record, 'id');
  const orderId = readText(attributes, 'order_id');
  const order = orderId === null ? {} : related.valuesOf(`order:${orderId}`);
  const subscription = orderId === null ? {} : related.valuesOf(`subscription:${orderId}`);
  const isDisabled = readFlag(attributes, 'disabled') || attributes['status'] === 'disabled';
  return {
    ...UNKNOWN_LICENSE,
    sourceId: id,
    licenseKey: readText(attributes, 'key'),
    customerEmail: readText(attributes, 'user_email'),
    customerName: readText(attributes, 'user_name'),
    maxActivations: readCount(attributes, 'activation_limit') ?? 'unlimited',
    expiresAt: readDate(attributes, 'expires_at'),
    provider: 'lemonsqueezy',
    transactionId: orderId === null ? null : `order:${orderId}`,
    isTest: attributes['test_mode'] === true,
    devices: id === null ? [] : related.devicesOf(id),
    usedSeats: readCount(attributes, 'instances_count') ?? 0,
    createdAt: readDate(attributes, 'created_at'),
    ...order,
    ...subscription,
    products: [...(order.products ?? []), ...listProducts(attributes)],
    status: order.status ?? (isDisabled ? 'suspended' : (subscription.status ?? 'active')),
    details: { ...pickDetails(attributes, DETAILS), ...order.details },
  };
}

/** The variant, the product with its variant, and the product. */
function listProducts(record: SourceRecord): ForeignProduct[] {
  const variant = readText(record, 'variant_id');
  const product = readText(record, 'product_id');
  const productName = readText(record, 'product_name');
  const variantName = readText(record, 'variant_name');
  const name = [productName, variantName].filter((part) => part !== null).join(' ');
  return [
    ...(variant === null ? [] : [{ id: variant, name: name === '' ? null : name }]),
    ...(product === null ? [] : [{ id: product, name: productName }]),
  ];
}

function toDevice(attributes: SourceRecord): RelatedFact | null {
  const owner = readText(attributes, 'license_key_id');
  const id = readText(attributes, 'identifier');
  if (owner === null || id === null) return null;
  const label = readText(attributes, 'name');
  const lastSeenAt = readDate(attributes, 'updated_at', 'created_at');
  return { kind: 'device', owner, device: { id, label, lastSeenAt } };
}

function toOrder(record: SourceRecord, attributes: SourceRecord): RelatedFact {
  const item = readObject(attributes, 'first_order_item');
  const isRefunded = attributes['status'] === 'refunded' || attributes['refunded'] === true;
  return {
    kind: 'values',
    owner: `order:${readText(record, 'id') ?? ''}`,
    values: {
      products: listProducts(item),
      prices: [...listVariantPrice(item, 'once:'), ...listVariantPrice(item)],
      details: pickDetails(item, DETAILS),
      ...(isRefunded
        ? { status: 'refunded' as const, statusSince: readDate(attributes, 'refunded_at') }
        : {}),
    },
  };
}

/** The catalogue names variants as the prices of Lemon Squeezy. @param prefix `once:` for a one-time purchase */
function listVariantPrice(record: SourceRecord, prefix = '') {
  const variant = readText(record, 'variant_id');
  if (variant === null) return [];
  return [{ provider: 'lemonsqueezy' as const, priceId: `${prefix}${variant}` }];
}

function toSubscription(record: SourceRecord, attributes: SourceRecord): RelatedFact {
  const endsAt = readDate(attributes, 'ends_at');
  const isPaused = attributes['status'] === 'paused';
  return {
    kind: 'values',
    owner: `subscription:${readText(attributes, 'order_id') ?? ''}`,
    values: {
      isSubscription: true,
      subscriptionId: readText(record, 'id'),
      expiresAt: endsAt ?? readDate(attributes, 'renews_at') ?? 'unknown',
      cancelScheduledFor: endsAt,
      ...(isPaused ? { status: 'paused' as const } : {}),
      prices: listVariantPrice(attributes),
    },
  };
}
