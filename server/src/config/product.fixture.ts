import { forEachProvider } from '@latchkey/contract';

import type { Product } from './catalog-model.ts';

/** Returns a perpetual product for one machine, whose names are its id. */
export function anyProduct(changes: Partial<Product> & Pick<Product, 'id'>): Product {
  const { id } = changes;
  return {
    name: id,
    productType: id,
    tier: id,
    features: [],
    maxActivations: 1,
    durationDays: null,
    offlineDays: 14,
    airgapDays: null,
    moves: { extra: 3, days: 30 },
    compatible: { lemonSqueezy: null, gumroad: null, showsCustomer: false },
    prices: forEachProvider(() => []),
    ...changes,
  };
}
