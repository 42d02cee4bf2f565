import type { BillingLine } from '../facts.ts';
import type { SoldProduct } from './compute-licenses.ts';

/** The most keys of a product that one line creates. */
export const MAX_KEYS = 1_000;

const MAX_QUANTITY = 1_000_000_000;

/** Whether a quantity can be sold: a whole number from 1 to a billion. */
export function isPlausible(quantity: number): boolean {
  return Number.isInteger(quantity) && quantity >= 1 && quantity <= MAX_QUANTITY;
}

/** A license of a line: lines of a bundle have one for each product, and lines of keys one for each unit. */
export interface Unit {
  /** Ends the key of the line; empty for its first license. */
  readonly suffix: string;
  readonly product: SoldProduct;
  /** The newest state of the line that sells it. */
  readonly line: BillingLine;
  /** The quantity that multiplies its machines. */
  readonly quantity: number;
  /** The state of the line that sells it no more; null if it is sold. */
  readonly removedBy: BillingLine | null;
}

/**
 * Finds what a state of a line sells of a product of its price.
 * @param part the place of the product in its bundle; 0 for a price of one product
 */
export type FindPart = (line: BillingLine, part: number) => SoldProduct | null;

/** What the units of a line depend on. */
export interface UnitOptions {
  readonly findPart: FindPart;
  /** Counts the products of a price. */
  readonly countParts: (line: BillingLine) => number;
}

/**
 * Lists the licenses of a line. A state without a product or with a quantity that cannot be sold counts as not reported:
 * product and quantity are those of one state. Fewer keys end the newest ones; more begin with the ended ones.
 * @param history the states of the line, newest last
 */
export function listUnits(history: readonly BillingLine[], options: UnitOptions): Unit[] {
  const units = new Map<string, Unit>();
  for (const line of withoutRepeats(history)) {
    const sold = listSold(line, options);
    if (sold.length === 0) continue;
    for (const [suffix, unit] of units) {
      units.set(suffix, { ...unit, removedBy: unit.removedBy ?? line });
    }
    for (const unit of sold) units.set(unit.suffix, unit);
  }
  return [...units.values()];
}

/** Returns the states that change something; of equal ones in a row the first, which has the time of the change. */
function withoutRepeats(history: readonly BillingLine[]): BillingLine[] {
  return history.filter((line, index) => {
    const before = history[index - 1];
    return before?.priceId !== line.priceId || before.quantity !== line.quantity;
  });
}

/** Lists what one state of a line sells; empty if any of it is unknown or cannot be sold. */
function listSold(line: BillingLine, { findPart, countParts }: UnitOptions): Unit[] {
  const { quantity } = line;
  if (!isPlausible(quantity)) return [];
  const products = Array.from({ length: countParts(line) }, (_, part) => findPart(line, part));
  return products.every((product) => product !== null && canSell(product, quantity))
    ? products.flatMap((product, part) => (product === null ? [] : toUnits(line, product, part)))
    : [];
}

/** Whether the quantity does not ask for too many keys. */
export function canSell(
  { quantityAs }: Pick<SoldProduct, 'quantityAs'>,
  quantity: number,
): boolean {
  return quantityAs !== 'keys' || quantity <= MAX_KEYS;
}

function toUnits(line: BillingLine, product: SoldProduct, part: number): Unit[] {
  const isKeys = product.quantityAs === 'keys';
  return Array.from({ length: isKeys ? line.quantity : 1 }, (_, number) => ({
    suffix: nameUnit(part, number),
    product,
    line,
    quantity: isKeys ? 1 : line.quantity,
    removedBy: null,
  }));
}

/** Names a license of a line: the first one, as if it were the only one, by nothing. */
export function nameUnit(part: number, number: number): string {
  return `${part === 0 ? '' : `+${part}`}${number === 0 ? '' : `#${number + 1}`}`;
}

/** Returns the place of a product in the bundle of a line by the key of its first unit; null: it is the key of something else. */
export function findPlace(lineKey: string, base: string): number | null {
  if (lineKey === base) return 0;
  const place = lineKey.startsWith(`${base}+`)
    ? Number(lineKey.slice(base.length + 1))
    : Number.NaN;
  return Number.isInteger(place) ? place : null;
}
