import type { Product } from '#server/config/catalog-model.ts';

import type { BillingEvent } from '../facts.ts';
import { toSale, type Sale } from './find-sale.ts';
import { groupPurchases, type LedgerEntry } from './group-purchases.ts';
import { machinesAfter } from './model-steps.fixture.ts';
import {
  planLicenses,
  type AdoptableLicense,
  type BilledLine,
  type LicensePlans,
} from './plan-licenses.ts';
import { findPrice, PRODUCTS } from './plan.fixture.ts';

/** A shop without a database: it remembers events, lines and sales as the service does. */
export class ModelShop {
  readonly #entries: LedgerEntry[] = [];
  readonly #lines: BilledLine[] = [];
  readonly #sales = new Map<string, Sale[]>();
  #elsewhere: readonly AdoptableLicense[];
  #edits = 0;

  constructor(elsewhere: readonly AdoptableLicense[]) {
    this.#elsewhere = elsewhere;
  }

  editCatalog(): void {
    this.#edits += 1;
  }

  /** Receives an event, and returns what its licenses are then. */
  receive({ provider, eventId, facts }: BillingEvent): LicensePlans {
    for (const fact of facts) {
      if (fact.kind !== 'customer') this.#entries.push({ provider, eventId, fact });
    }
    return this.#sync();
  }

  #sync(): LicensePlans {
    const products = new Map([...PRODUCTS].map(([id, product]) => [id, this.#toCurrent(product)]));
    const catalog = {
      products,
      findPrice: (name: string, priceId: string) =>
        products.get(findPrice(name, priceId)?.id ?? '') ?? null,
    };
    const lines = this.#lines.map((line) => ({
      ...line,
      sales: this.#sales.get(line.licenseId) ?? [],
    }));
    const plans = planLicenses(groupPurchases(this.#entries), lines, catalog, this.#elsewhere);
    for (const { draft } of plans.missing) {
      const line = {
        provider: 'paddle',
        transactionId: draft.transactionId,
        lineKey: draft.lineKey,
        licenseId: `${this.#lines.length + 1}`,
      };
      this.#lines.push(line);
      this.#record(line.licenseId, draft);
    }
    for (const { draft, line, adopted } of plans.existing) {
      if (adopted !== undefined) {
        this.#lines.push(line);
        this.#elsewhere = this.#elsewhere.filter((each) => each !== adopted);
        this.#sales.set(line.licenseId, [toSale(adopted)]);
      }
      this.#record(line.licenseId, draft);
    }
    return plans;
  }

  #toCurrent(product: Product): Product {
    return { ...product, maxActivations: machinesAfter(this.#edits, product.id) };
  }

  /** What was sold first stays. */
  #record(licenseId: string, { product, priceId }: LicensePlans['missing'][number]['draft']): void {
    const sales = this.#sales.get(licenseId) ?? [];
    if (product === null || sales.some((sale) => sale.priceId === priceId)) return;
    const { id: productId, maxActivations: machines, durationDays } = product;
    const sale = { priceId, productId, machines, durationDays, hasFixedEnd: false, endsAt: null };
    this.#sales.set(licenseId, [...sales, sale]);
  }
}
