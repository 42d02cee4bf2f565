/** The lines of a subscription take over the licenses that operators issued from its payments, so that a buyer has one key. */
import { computeLicenses, isRecurringKey, type LicenseDraft } from './compute-licenses.ts';
import type { SaleFinder } from './find-sale.ts';
import type { Purchase } from './group-purchases.ts';
import { computeIssued, type IssuedLicense } from './issued.ts';
import type { PaidLines } from './paid-lines.ts';
import type { BilledLine } from './plan-licenses.ts';

/** The licenses that a purchase should have. */
interface PurchaseDrafts {
  readonly drafts: readonly LicenseDraft[];
  /** The issued licenses that lines of the subscription take over, by the keys of these lines. */
  readonly takenOver: ReadonlyMap<string, IssuedLicense>;
}

/**
 * Computes the licenses of a purchase: of its lines, and those that operators issued. What was issued from a payment of a subscription
 * is a period of its line, as soon as the line has a license.
 */
export function draftPurchase(
  { facts }: Purchase,
  lines: readonly BilledLine[],
  sale: SaleFinder,
  paid: PaidLines,
): PurchaseDrafts {
  const issued = computeIssued(facts, sale.findProduct);
  const compute = (earlier: Parameters<typeof computeLicenses>[3]): LicenseDraft[] =>
    computeLicenses(facts, sale.findProduct, sale.countParts, earlier, paid);
  if (issued.length === 0) return { drafts: compute(sale), takenOver: new Map() };
  const named = {
    ...sale,
    isNamed: sale.isNamed || issued.some(({ periods }) => periods !== null),
  };
  const computed = compute(named);
  const takenOver = findTakers(computed, issued, lines);
  const taken = [...takenOver.values()];
  const listIssued = (lineKey: string) =>
    [...takenOver].flatMap(([key, { periods }]) =>
      baseOf(key) === lineKey ? (periods ?? []) : [],
    );
  const own = taken.length === 0 ? computed : compute({ ...named, listIssued });
  const others = issued.filter((each) => !taken.includes(each));
  return { drafts: [...own, ...others.map(({ draft }) => draft)], takenOver };
}

/** Returns the key of a line without what names its products and keys. */
function baseOf(lineKey: string): string {
  return lineKey.split(/[+#]/u, 1)[0] ?? lineKey;
}

/**
 * Finds the line that takes over each issued license: the one that has it already, else the line of its product, else the only line of
 * the subscription.
 */
function findTakers(
  drafts: readonly LicenseDraft[],
  issued: readonly IssuedLicense[],
  lines: readonly BilledLine[],
): ReadonlyMap<string, IssuedLicense> {
  const recurring = drafts.filter(
    ({ lineKey, product }) => isRecurringKey(lineKey) && !lineKey.includes('#') && product !== null,
  );
  const takers = new Map<string, IssuedLicense>();
  for (const each of issued) {
    const ids = new Set(linesOf(each, lines).map(({ licenseId }) => licenseId));
    const open = recurring.filter(({ lineKey }) => !takers.has(lineKey));
    const own = (draft: LicenseDraft): BilledLine[] =>
      lines.filter(({ lineKey }) => lineKey === draft.lineKey);
    const holder = open.find((draft) => own(draft).some(({ licenseId }) => ids.has(licenseId)));
    const free = each.periods === null ? [] : open;
    const productId = each.draft.product?.id;
    const ofProduct = free.find(({ product }) => product?.id === productId);
    const isOnly = recurring.length === 1 && !each.isOfOneOfSeveral;
    const only = isOnly ? free.find((draft) => own(draft).length === 0) : undefined;
    const taker = holder ?? ofProduct ?? only;
    if (taker !== undefined) takers.set(taker.lineKey, each);
  }
  return takers;
}

function linesOf({ lineKeys }: IssuedLicense, lines: readonly BilledLine[]): BilledLine[] {
  return lines.filter(({ lineKey }) => lineKeys.includes(lineKey));
}

/**
 * Returns the line of a license that takes over an issued one; null: it has its own already, which is that license or an older one.
 * @param known the line that it has
 */
export function takeOverLine(
  { facts: { provider } }: Purchase,
  { transactionId, lineKey }: LicenseDraft,
  issued: IssuedLicense | undefined,
  lines: readonly BilledLine[],
  known: BilledLine | null,
): BilledLine | null {
  const [oldest] = issued === undefined ? [] : linesOf(issued, lines);
  if (oldest === undefined || (known !== null && known.licenseId <= oldest.licenseId)) return null;
  const { licenseId, sales = [] } = oldest;
  return { provider, transactionId, lineKey, licenseId, sales };
}
