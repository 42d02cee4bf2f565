import type { Queryable } from '#server/db/statement.ts';

import {
  createBilledLicenses,
  type BilledOrder,
  type IssuingContext,
} from '../licenses/create-billed.ts';
import {
  cancelLicenses,
  updateBilledLicenses,
  upsertLicenseTransactions,
  deleteLicenseTransactions,
  type LicenseOrigin,
} from '../licenses/queries/billed-licenses.ts';
import { listLicensesByIds, type LicenseRecord } from '../licenses/queries/licenses.ts';
import type { CustomerDetails } from './facts.ts';
import { findBuyers, type Buyer } from './find-buyers.ts';
import { insertBilledLines, listBilledLines, type BilledLine } from './queries/purchases.ts';
import { computeLicenses } from './rules/compute-licenses.ts';
import type { Purchase } from './rules/group-purchases.ts';
import type { LicenseDraft, PurchaseFacts } from './rules/purchase.ts';

/** What has become of purchases. */
export interface SettledPurchases {
  readonly created: readonly SettledLicense[];
  readonly changed: readonly (SettledLicense & { readonly before: LicenseRecord })[];
  /** Those that sell nothing that the catalogue names, and why. */
  readonly unsold: readonly { readonly purchase: Purchase; readonly reason: string }[];
}

/** A license as it is now, and where it comes from. */
export interface SettledLicense {
  readonly license: LicenseRecord;
  readonly provider: string;
  /** The transaction that it was made under, which may not be the checkout that is known by now. */
  readonly transactionId: string;
  readonly customerId: string | null;
}

/** A draft, and what its line made before; null: nothing yet. */
interface Plan {
  readonly provider: string;
  readonly draft: LicenseDraft;
  readonly buyer: Buyer;
  readonly made: BilledLine | null;
}

/** A plan for a license that is there. */
type MadePlan = Plan & { readonly made: BilledLine };

/** A license of a line that there is no more, since two turned out to be one. */
type Stray = Pick<MadePlan, 'buyer' | 'made'>;

/** More machines than PostgreSQL's integer counts are as good as any number. */
const MAX_ACTIVATIONS = 1_000_000_000;

/** Makes the licenses of purchases what they are to be: creates those that are missing, changes those that differ. */
export async function settlePurchases(
  ctx: IssuingContext,
  client: Queryable,
  purchases: readonly Purchase[],
): Promise<SettledPurchases> {
  const lines = await listBilledLines(client, purchases.flatMap(transactionsOf));
  const buyers = await findBuyers(client, purchases);
  const linesOf = Map.groupBy(
    lines,
    ({ provider, transactionId }) => `${provider} ${transactionId}`,
  );
  const plans: Plan[] = [];
  const strays: Stray[] = [];
  const unsold: { purchase: Purchase; reason: string }[] = [];
  for (const [index, purchase] of purchases.entries()) {
    const { provider } = purchase.facts;
    const drafts = computeLicenses(purchase.facts, (priceId) =>
      ctx.catalog().findPrice(provider, priceId),
    );
    const made = transactionsOf(purchase).flatMap(
      ({ transactionId }) => linesOf.get(`${provider} ${transactionId}`) ?? [],
    );
    const buyer = buyers[index] ?? { customerId: null, customer: NOBODY };
    const planned = drafts.map((draft) => {
      return { provider, draft, buyer, made: findMade(made, draft) ?? null };
    });
    const sold = planned.filter((plan) => plan.made !== null || plan.draft.product !== null);
    if (sold.length === 0 && drafts.length > 0) {
      unsold.push({ purchase, reason: explainUnsold(drafts) });
    }
    plans.push(...sold);
    const kept = new Set(planned.map((plan) => plan.made?.licenseId));
    const gone = made.filter(({ licenseId }) => !kept.has(licenseId));
    strays.push(...gone.map((line) => ({ buyer, made: line })));
  }
  const created = await create(ctx, client, plans);
  const changed = await change(ctx, client, plans, strays);
  return { created, changed, unsold };
}

const NOBODY: CustomerDetails = { email: null, name: null, locale: null };

/** Every transaction of a purchase, for a license may have been made under another one while less was known. */
function transactionsOf({ facts }: { readonly facts: PurchaseFacts }) {
  const ids = [
    ...facts.payments.flatMap(({ transactionId, aliases = [] }) => [transactionId, ...aliases]),
    ...facts.snapshots.map(({ transactionId }) => transactionId),
  ];
  return [...new Set(ids)].flatMap((transactionId) =>
    transactionId === null ? [] : [{ provider: facts.provider, transactionId }],
  );
}

function findMade(made: readonly BilledLine[], draft: LicenseDraft): BilledLine | undefined {
  const ofLine = made.filter(({ lineKey }) => lineKey === draft.lineKey);
  return ofLine.find(({ transactionId }) => transactionId === draft.transactionId) ?? ofLine[0];
}

function explainUnsold(drafts: readonly LicenseDraft[]): string {
  const prices = [...new Set(drafts.map(({ priceId }) => priceId))].slice(0, 5).join(', ');
  return `No product of the catalogue has the price ${prices}.`;
}

async function create(
  ctx: IssuingContext,
  client: Queryable,
  plans: readonly Plan[],
): Promise<SettledLicense[]> {
  const orders = plans.flatMap((plan) => {
    const terms = readTerms(plan.draft);
    if (plan.made !== null || terms === null) return [];
    return [{ plan, order: { ...toFacts(plan), terms } satisfies BilledOrder }];
  });
  if (orders.length === 0) return [];
  const licenses = await createBilledLicenses(
    ctx,
    client,
    orders.map(({ order }) => order),
  );
  const created = orders.flatMap(({ plan }, index) => {
    const license = licenses[index];
    if (license === undefined) return [];
    const { provider, draft } = plan;
    const { transactionId, lineKey } = draft;
    const made = { provider, transactionId, lineKey, licenseId: license.id };
    return [{ plan: { ...plan, made }, license }];
  });
  await insertBilledLines(
    client,
    created.map(({ plan }) => plan.made),
  );
  await name(
    client,
    created.map(({ plan }) => plan),
  );
  return created.map(({ plan, license }) => toSettled(plan, license));
}

async function change(
  ctx: IssuingContext,
  client: Queryable,
  plans: readonly Plan[],
  strays: readonly Stray[],
): Promise<(SettledLicense & { before: LicenseRecord })[]> {
  const made = plans.flatMap((plan) => (plan.made === null ? [] : [{ ...plan, made: plan.made }]));
  const all = [...made, ...strays];
  if (all.length === 0) return [];
  const ids = all.map((each) => each.made.licenseId);
  const before = new Map((await listLicensesByIds(client, ids)).map((each) => [each.id, each]));
  const updated = await updateBilledLicenses(
    client,
    made.map((plan) => ({
      ...toFacts(plan),
      id: plan.made.licenseId,
      terms: readTerms(plan.draft),
    })),
  );
  const canceled = await cancelStrays(ctx, client, strays);
  await name(client, made);
  const sourceOf = new Map(all.map((each) => [each.made.licenseId, each]));
  return [...updated, ...canceled].flatMap((license) => {
    const source = sourceOf.get(license.id);
    const was = before.get(license.id);
    return source === undefined || was === undefined
      ? []
      : [{ ...toSettled(source, license), before: was }];
  });
}

async function cancelStrays(
  ctx: IssuingContext,
  client: Queryable,
  strays: readonly Stray[],
): Promise<LicenseRecord[]> {
  if (strays.length === 0) return [];
  const ids = strays.map(({ made }) => made.licenseId);
  return cancelLicenses(client, ids, ctx.clock.now());
}

/** Lets `check` find licenses by the id that the front end knows, and by no other. */
async function name(client: Queryable, plans: readonly MadePlan[]): Promise<void> {
  await upsertLicenseTransactions(
    client,
    plans.map((plan) => toOrigin(plan.draft.checkoutId, plan)),
  );
  const former = plans.flatMap((plan) =>
    [plan.draft.transactionId, plan.made.transactionId]
      .filter((id) => id !== plan.draft.checkoutId)
      .map((id) => toOrigin(id, plan)),
  );
  if (former.length > 0) await deleteLicenseTransactions(client, former);
}

function toOrigin(transactionId: string, { draft, made }: MadePlan): LicenseOrigin {
  return { transactionId, licenseId: made.licenseId, position: draft.position };
}

function readTerms({ product, quantity }: LicenseDraft) {
  if (product === null) return null;
  const machines = product.maxActivations * Math.max(1, Math.floor(quantity));
  return {
    productId: product.id,
    tier: product.tier,
    features: product.features,
    maxActivations: Math.min(machines, MAX_ACTIVATIONS),
  };
}

function toFacts({ draft, buyer }: Pick<Plan, 'draft' | 'buyer'>) {
  const { subscription, expiresAt, cancelScheduledFor } = draft;
  const { canceledAt, pausedAt, disputedAt, refundedAt } = draft;
  return {
    subscription,
    expiresAt,
    cancelScheduledFor,
    canceledAt,
    pausedAt,
    disputedAt,
    refundedAt,
    customerEmail: buyer.customer.email,
    customerName: buyer.customer.name,
  };
}

function toSettled({ buyer, made }: Stray, license: LicenseRecord): SettledLicense {
  const { provider, transactionId } = made;
  return { license, provider, transactionId, customerId: buyer.customerId };
}
