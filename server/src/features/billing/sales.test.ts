import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { Catalog, Product } from '#server/config/catalog-model.ts';
import type { ForeignLicense } from '#server/features/imports/facts.ts';
import { foreign, runImport } from '#server/features/imports/import-steps.fixture.ts';

import { startTestService } from '../../../test/harness.ts';
import { applyCatalogToSold, type ChangedLicense } from './apply-catalog-to-sold.ts';
import { applyEvents } from './apply-events.ts';
import type { BillingFact } from './facts.ts';
import { countUnmatchedEvents } from './queries/operator-events.ts';
import type { Receipt } from './received-event.ts';
import { dismissEvents } from './stored-events.ts';
import {
  began,
  checkout,
  line,
  month,
  payment,
  PRICES,
  renewal,
  snapshot,
  toEvents,
} from './rules/facts.fixture.ts';

const service = await startTestService();
const { context, pool } = service;

let copies = 0;

/** Applies facts as a purchase of its own: every id gets a suffix. */
async function apply(
  suffix: string,
  facts: readonly BillingFact[],
  catalog: Catalog = context.catalog(),
): Promise<Receipt[]> {
  const own = facts.map((fact) => {
    const ids = Object.entries(fact).flatMap(([name, value]) =>
      name.endsWith('Id') && typeof value === 'string' ? [[name, `${value}${suffix}`]] : [],
    );
    return { ...fact, ...Object.fromEntries(ids) };
  });
  const events = toEvents(own, `evt_${(copies += 1)}${suffix}`).map((event) => ({
    ...event,
    receivedAt: event.occurredAt,
    raw: Buffer.from('{}'),
    headers: {},
  }));
  return applyEvents({ ...context, catalog: () => catalog }, events);
}

interface Sold {
  readonly id: string;
  readonly product_id: string;
  readonly max_activations: number;
  readonly expires_at: Date | null;
  readonly canceled_at: Date | null;
  readonly tier: string;
}

async function read(suffix: string): Promise<Sold[]> {
  const { rows } = await pool.query<Sold>(
    `select distinct on (l.id) l.id, l.product_id, l.max_activations, l.expires_at, l.canceled_at, l.tier
     from billing_licenses b join licenses l on l.id = b.license_id where b.transaction_id like $1 order by l.id`,
    [`%${suffix}`],
  );
  return rows;
}

/** The catalogue with a changed product. */
function change(id: string, more: Partial<Product>): Catalog {
  const catalog = context.catalog();
  const products = new Map(
    [...catalog.products].map(([key, product]) => [
      key,
      key === id ? { ...product, ...more } : product,
    ]),
  );
  return {
    ...catalog,
    products,
    findPrice: (provider, priceId) => {
      const found = catalog.findPrice(provider, priceId);
      return found === null ? null : (products.get(found.id) ?? null);
    },
  };
}

const customer: BillingFact = {
  kind: 'customer',
  customerId: 'ctm_1',
  occurredAt: month(9),
  customer: { email: 'ann@example.com', name: 'Ann', locale: null },
};

describe('a changed catalogue', () => {
  test('leaves term and machines of a sold license, and gives its features and tier', async () => {
    await apply('~term', [payment()]);
    const changed = change('personal', { durationDays: 30, maxActivations: 1, tier: 'basic' });
    await apply('~term', [customer], changed);
    const [sold] = await read('~term');
    assert.equal(sold?.expires_at, null);
    assert.equal(sold?.max_activations, 2);
    assert.equal(sold?.tier, 'basic');
  });

  test('leaves the machines for each unit when the quantity changes', async () => {
    await apply('~unit', [checkout({ subscriptionId: 'sub_1' }), began()]);
    const more = snapshot(month(3, 9), 'active', 3, {
      lines: [
        { ...line(PRICES.personal), quantity: 3, cycle: { interval: 'month', frequency: 1 } },
      ],
    });
    await apply('~unit', [more], change('personal', { maxActivations: 7 }));
    assert.equal((await read('~unit'))[0]?.max_activations, 6);
  });

  test('leaves a license from before sales were recorded as it is', async () => {
    await apply('~old', [payment()]);
    const id = (await read('~old'))[0]?.id ?? '';
    await pool.query('delete from billing_sales where license_id = $1', [id]);
    await pool.query(
      `insert into billing_sales (license_id, price_id, product_id, machines, has_fixed_end, ends_at, sold_at)
       select id, '', product_id, max_activations, true, expires_at, created_at from licenses where id = $1`,
      [id],
    );
    await apply('~old', [customer], change('personal', { durationDays: 30, maxActivations: 1 }));
    const [sold] = await read('~old');
    assert.deepEqual([sold?.expires_at, sold?.max_activations], [null, 2]);
  });
});

async function importOne(suffix: string, more: Partial<ForeignLicense>): Promise<void> {
  const product = context.catalog().findPrice('paddle', PRICES.personal);
  assert.ok(product !== null);
  const license = foreign({
    products: [{ id: product.id, name: null }],
    licenseKey: `OLDK-${crypto.randomUUID().toUpperCase()}`,
    isSubscription: true,
    expiresAt: month(4),
    maxActivations: 9,
    ...more,
  });
  const { report } = await runImport(context, [license], { reason: suffix });
  assert.equal(report.outcomes.new, 1);
}

describe('applyCatalogToSold', () => {
  const by = { actor: 'test', reason: 'three machines for everybody' };

  test('shows and makes the changes of sold licenses, with an audit entry, and leaves others', async () => {
    await apply('~apply', [payment()]);
    await apply('~gone', [payment({ lines: [line(PRICES.sellers)] })]);
    const own = new Set([...(await read('~apply')), ...(await read('~gone'))].map(({ id }) => id));
    const changed = change('personal', { maxActivations: 3 });
    const catalog: Catalog = {
      ...changed,
      findPrice: (provider, priceId) =>
        priceId === PRICES.sellers ? null : changed.findPrice(provider, priceId),
    };
    const deps = { ...context, catalog: () => catalog };
    const run = async (dryRun: boolean) => {
      const found: ChangedLicense[] = [];
      await applyCatalogToSold(deps, { ...by, dryRun }, (each) => found.push(each));
      return found.filter(({ after }) => own.has(after.id));
    };
    const shown = await run(true);
    assert.deepEqual(
      shown.map(({ before, after }) => [before.maxActivations, after.maxActivations]),
      [[2, 3]],
    );
    assert.equal((await read('~apply'))[0]?.max_activations, 2);
    assert.equal((await run(false)).length, 1);
    assert.equal((await read('~apply'))[0]?.max_activations, 3);
    assert.equal((await read('~gone'))[0]?.max_activations, 10);
    assert.deepEqual(await run(false), []);
    const { rowCount } = await pool.query(
      `select from audit_log where action = 'license.apply_catalog' and subject_id = $1`,
      [shown[0]?.after.id],
    );
    assert.equal(rowCount, 1);
  });
});

describe('a license from elsewhere', () => {
  test('is extended by the renewal of its subscription, and keeps its machines', async () => {
    await importOne('~sub', { subscriptionId: 'sub_1~sub', provider: 'paddle' });
    await apply('~sub', [snapshot(month(4), 'active', 4), renewal(4)]);
    const all = await read('~sub');
    assert.deepEqual(
      all.map((each) => [each.expires_at, each.max_activations]),
      [[month(5), 9]],
    );
  });

  test('is the only one of its checkout, also if a renewal created another before', async () => {
    const expiresAt = month(3, 20);
    await importOne('~two', { transactionId: 'txn_1~two', provider: 'paddle', expiresAt });
    await apply('~two', [renewal(4)]);
    assert.equal((await read('~two')).length, 1);
    await apply('~two', [began()]);
    const all = await read('~two');
    assert.deepEqual(
      all.map((each) => [each.max_activations, each.canceled_at === null]),
      [
        [9, true],
        [2, false],
      ],
    );
  });

  test('is adopted by the renewal that starts where it ends, unless two fit', async () => {
    const expiresAt = month(4, 3);
    const paid = { period: { startsAt: month(4, 3), endsAt: month(5, 3) } };
    await importOne('~end', { transactionId: 'unknown-1', expiresAt });
    await apply('~end', [renewal(4, paid)]);
    assert.equal((await read('~end'))[0]?.max_activations, 9);
    await importOne('~end2', { transactionId: 'unknown-2', expiresAt });
    await importOne('~end2', { transactionId: 'unknown-3', expiresAt });
    await apply('~end2', [renewal(4, paid)]);
    assert.equal((await read('~end2'))[0]?.max_activations, 2);
  });
});

const count = (): Promise<number> => countUnmatchedEvents(pool, 100);

describe('payments that need attention', () => {
  test('are counted until a later event completes the purchase', async () => {
    const before = await count();
    const [receipt] = await apply('~gap', [renewal(4, { lines: [] })]);
    assert.match(receipt?.message ?? '', /^Needs attention: it names no price/);
    assert.equal(await count(), before + 1);
    const [next] = await apply('~gap', [snapshot(month(4, 1), 'active', 4)]);
    assert.match(next?.message ?? '', /^The subscription started before its first event/);
    assert.equal(await count(), before);
    assert.equal((await read('~gap')).length, 1);
  });

  test('are dismissed by their id only, and stay dismissed', async () => {
    const before = await count();
    await apply('~done', [renewal(4, { lines: [] })]);
    const eventId = `evt_${copies}~done_0`;
    const by = { actor: 'test', reason: 'refunded at the provider' };
    const filter = { eventId: null, status: null, provider: null, since: null };
    await dismissEvents(context, { ...by, filter });
    assert.equal(await count(), before + 1);
    assert.equal(await dismissEvents(context, { ...by, filter: { ...filter, eventId } }), 1);
    await apply('~done', [renewal(5, { lines: [] })]);
    assert.equal(await count(), before + 1);
  });

  test('are the second payment under an id, not the first', async () => {
    await apply('~twice', [checkout({ subscriptionId: 'sub_1' }), began()]);
    const [receipt] = await apply('~twice', [renewal(4, { transactionId: 'txn_1' })]);
    assert.equal(receipt?.status, 'processed');
    assert.match(
      receipt.message ?? '',
      /^Needs attention: the transaction txn_1~twice was reported/,
    );
    assert.deepEqual((await read('~twice'))[0]?.expires_at, month(4));
  });
});
