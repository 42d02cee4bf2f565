import type { UpdatesEntry } from '../../licenses/rules/updates-until.ts';
import type { LicenseDraft } from './compute-licenses.ts';
import { ATTENTION_PREFIX } from './event-state.ts';
import type { RenewedLicense } from './find-obstacle.ts';
import { explainPrices, findProblems, type Problem } from './find-problems.ts';
import { isRecipientInvalid } from './find-recipient.ts';
import type { SaleFinder } from './find-sale.ts';
import type { Purchase } from './group-purchases.ts';
import { trackPaidLines } from './paid-lines.ts';
import type {
  BilledLine,
  ExistingLicense,
  LicensePlans,
  MissingLicense,
  SoldTerms,
} from './plan-licenses.ts';
import {
  explainRefusal,
  findRenewal,
  toBaseSale,
  toProblem,
  type NamedLicenses,
} from './plan-renewals.ts';
import { toUpdatesRenewal, type UpdatesRenewal } from './plan-updates.ts';
import { draftPurchase, takeOverLine } from './take-over-issued.ts';

const INVALID_RECIPIENT = `${ATTENTION_PREFIX}it is a gift, but the recipient's address is invalid, so the payer has the license. Set the right address with latchkey license owner.`;

/** Fits into an integer of PostgreSQL. */
const MAX_ACTIVATIONS = 1_000_000_000;

/** The line of a license that exists. */
type OwnLine = Pick<
  ExistingLicense,
  'line' | 'adopted' | 'isTakenOver' | 'isNewRenewal' | 'baseSale'
>;

/** What is known of the licenses that a purchase may renew. */
interface RenewableLicenses {
  readonly renewed: NamedLicenses;
  /** The lines of the purchase that renew updates already. */
  readonly known: readonly UpdatesEntry[];
}

/** Compares the licenses that a purchase should have with those that exist. */
export function planPurchase(
  purchase: Purchase,
  lines: readonly BilledLine[],
  sale: SaleFinder,
  { renewed, known }: RenewableLicenses,
): Omit<LicensePlans, 'updates'> {
  const paid = trackPaidLines(purchase.facts);
  const { drafts, takenOver } = draftPurchase(purchase, lines, sale, paid);
  const missing: MissingLicense[] = [];
  const existing: ExistingLicense[] = [];
  const renewals: UpdatesRenewal[] = [];
  const sold = drafts.filter(({ product }) => product?.givesUpdates !== true);
  const renewal = findRenewal(purchase, lines, sold, renewed);
  const findOwn = (draft: LicenseDraft): OwnLine | null => {
    const { line, adopted } = sale.findLine(draft);
    if (line !== null && adopted !== null) return { line, adopted };
    const taken = takeOverLine(purchase, draft, takenOver.get(draft.lineKey), lines, line);
    if (taken !== null) return { line: taken, isTakenOver: true };
    return line === null ? null : { line };
  };
  for (const draft of drafts) {
    const updates = toUpdatesRenewal(purchase, draft, known, renewed);
    if (updates !== null) {
      renewals.push(updates);
      continue;
    }
    const isRenewal = draft.lineKey === renewal?.lineKey;
    const license = isRenewal ? renewal.license : null;
    const own = license === null ? findOwn(draft) : toNewRenewal(purchase, draft, license);
    const terms = readTerms(draft);
    if (own !== null) {
      existing.push({ purchase, draft, terms, ...own });
    } else if (!isRenewal && terms?.tier != null && terms.features !== null) {
      const { tier, features } = terms;
      missing.push({ purchase, draft, terms: { ...terms, tier, features } });
    }
  }
  const kept = new Set(existing.map(({ line }) => line.licenseId));
  const orphaned = lines
    .filter(({ licenseId }) => !kept.has(licenseId))
    .map((line) => ({ purchase, line }));
  const isKept = (priceId: string): boolean =>
    [...existing, ...renewals.filter((each) => each.known !== null)].some(
      ({ draft }) => draft.priceId === priceId,
    );
  const problems = [
    ...findProblems(purchase.facts, drafts, paid, sale.findProduct, isKept),
    ...explainRefusal(purchase, drafts, renewal),
    ...(isRecipientInvalid(purchase) ? [toProblem(purchase, INVALID_RECIPIENT)] : []),
  ];
  return {
    missing,
    existing,
    orphaned,
    renewals,
    ...splitProblems(
      purchase,
      drafts,
      problems,
      existing.length + missing.length + renewals.length,
    ),
  };
}

function toNewRenewal(
  { facts: { provider } }: Purchase,
  { transactionId, lineKey }: LicenseDraft,
  license: RenewedLicense,
): Pick<ExistingLicense, 'line' | 'isNewRenewal' | 'baseSale'> {
  const { licenseId } = license;
  return {
    line: { provider, transactionId, lineKey, licenseId, renews: true },
    isNewRenewal: true,
    baseSale: toBaseSale(license),
  };
}

/** A purchase without any license is reported as a whole. */
function splitProblems(
  purchase: Purchase,
  drafts: readonly LicenseDraft[],
  problems: readonly Problem[],
  licenses: number,
): Pick<LicensePlans, 'unmatched' | 'problems'> {
  const isPaid = purchase.facts.payments.some(({ origin }) => origin !== 'other');
  const isUnmatched = licenses === 0 && drafts.length > 0 && (problems.length > 0 || !isPaid);
  if (!isUnmatched) {
    return { unmatched: [], problems: problems.map((each) => ({ ...each, purchase })) };
  }
  const prices = drafts.map(({ priceId }) => priceId);
  const reason = problems[0]?.reason ?? explainPrices(prices);
  return { unmatched: [{ purchase, reason }], problems: [] };
}

function readTerms({ product, quantity }: LicenseDraft): SoldTerms | null {
  if (product === null) return null;
  return {
    productId: product.id,
    tier: product.tier,
    features: product.features,
    maxActivations: Math.min(product.maxActivations * quantity, MAX_ACTIVATIONS),
  };
}
