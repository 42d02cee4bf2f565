/** Delivers the events of a story to a service: in any order, twice, several at a time. */
import type * as fc from 'fast-check';

import { addPoolKeys } from '#server/features/licenses/key-pool.ts';
import { licenseKeyLabel } from '#server/features/licenses/license-key.ts';
import { listLicensesByIds } from '#server/features/licenses/queries/licenses.ts';
import { replayEvents } from '#server/features/billing/stored-events.ts';
import { findSourceAdapter } from '#server/features/billing/providers/adapters.ts';
import { processEvent } from '#server/features/billing/receive-webhook.ts';
import { toTestSource } from '@latchkey/contract';

import { writeEvents } from '../../../soak/year/deliver-year.ts';
import type { TestService } from '../harness.ts';
import { testCatalog } from '../test-catalog.ts';
import { writeCatalog } from './goods.ts';
import type { Purchase } from './model-purchase.ts';
import { placeholderOf, type Report } from './story-steps.ts';
import type { Story } from './story.ts';
import { writeGumroad } from './write-gumroad.ts';

/** An event of a provider, and the events that arrive before. */
interface Arriving {
  readonly report: Report;
  readonly eventId: string;
  readonly body: string;
}

export class Player {
  readonly #service: TestService;
  readonly #seeds: fc.Stream<number>;
  /** The purchases of all delivered events, by source and event. */
  readonly purchaseOf = new Map<string, Purchase>();

  constructor(service: TestService, seeds: fc.Stream<number>) {
    this.#service = service;
    this.#seeds = seeds;
  }

  async play(story: Story): Promise<void> {
    this.#service.useCatalog(testCatalog(writeCatalog(0)));
    await this.#service.pool.query('delete from license_pool_keys where license_id is null');
    for (const turn of story.turns) {
      if (turn.kind === 'deliver') await this.#deliver(turn.reports);
      else if (turn.kind === 'editCatalog') {
        this.#service.useCatalog(testCatalog(writeCatalog(turn.edits)));
      } else await this.#addKeys(story);
    }
  }

  #draw(below: number): number {
    return (this.#seeds.next().value ?? 0) % below;
  }

  async #deliver(reports: readonly Report[]): Promise<void> {
    const waiting = reports.flatMap(toArriving);
    const open = new Set(reports);
    const delivered: Arriving[] = [];
    while (waiting.length > 0) {
      const ready = waiting.filter((each) => isReady(each, waiting, open));
      const count = 1 + this.#draw(Math.min(4, ready.length));
      const some: Arriving[] = [];
      for (let index = 0; index < count; index += 1) {
        some.push(...ready.splice(this.#draw(ready.length), 1));
      }
      const again = delivered.length > 0 ? delivered[this.#draw(delivered.length * 2)] : undefined;
      await Promise.all(
        [...some, ...(again === undefined ? [] : [again])].map((each) => this.#send(each)),
      );
      for (const each of some) waiting.splice(waiting.indexOf(each), 1);
      delivered.push(...some);
      const left = new Set(waiting.map(({ report }) => report));
      for (const report of open) if (!left.has(report)) open.delete(report);
    }
  }

  async #send({ report: { purchase }, eventId: id, body: written }: Arriving): Promise<void> {
    const { context } = this.#service;
    const { seller, isTest } = purchase;
    const source = isTest ? toTestSource(seller) : seller;
    const adapter = findSourceAdapter(source);
    if (adapter === undefined) throw new Error(`there is no ${source}`);
    const body = await this.#fillIn(written, purchase.renews);
    const parsed = parseObject(body);
    // FastSpring sends its events in a list, and each is stored alone.
    const [event] =
      seller === 'fastspring' ? (adapter.split?.(parsed, context.clock.now()) ?? []) : [];
    const rawBody = Buffer.from(event === undefined ? body : JSON.stringify(event));
    const own = parseObject(rawBody.toString());
    const headers = { 'webhook-id': id };
    const delivery = { headers, rawBody };
    const { eventId } = adapter.normalize(own, delivery);
    this.purchaseOf.set(`${source} ${eventId}`, purchase);
    await processEvent(context, adapter, delivery, own);
  }

  /** Replaces the placeholder of a license by its id or key. */
  async #fillIn(body: string, named: Purchase | null): Promise<string> {
    if (named === null) return body;
    const id = await this.#findLicense(named);
    return body
      .replaceAll(placeholderOf(named, false), id)
      .replaceAll(placeholderOf(named, true), await this.#readKey(id));
  }

  async #findLicense(purchase: Purchase): Promise<string> {
    const names = [...this.purchaseOf]
      .filter(([, each]) => each === purchase)
      .map(([name]) => name);
    const { rows } = await this.#service.pool.query<{ id: string }>(
      `select b.license_id as id
       from (select provider, transaction_id, event_id from billing_payments union
             select provider, transaction_id, event_id from billing_subscriptions) known
       join billing_licenses b using (provider, transaction_id)
       where known.provider || ' ' || known.event_id = any($1)
       order by b.line_key limit 1`,
      [names],
    );
    const [found] = rows;
    if (found === undefined) throw new Error(`purchase ${purchase.number} has no license to name`);
    return found.id;
  }

  async #readKey(id: string): Promise<string> {
    const { pool, vault } = this.#service.context;
    const [license] = await listLicensesByIds(pool, [id]);
    if (license?.keySealed == null) throw new Error('a license has no key');
    return vault.open(license.keySealed, licenseKeyLabel(id));
  }

  async #addKeys(story: Story): Promise<void> {
    const { context } = this.#service;
    const product = context.catalog().products.get('pooled');
    if (product === undefined) throw new Error('the catalogue lacks pooled');
    const [first] = story.purchases;
    const keys = Array.from({ length: 40 }, (_, index) => `POOL-${first?.number}-${index}-KEY-Q7X`);
    const change = { actor: 'test', reason: 'new keys', allowWeakKeys: true };
    await addPoolKeys(context, product, keys, change);
    for (const [name, purchase] of this.purchaseOf) {
      if (!purchase.good.products.includes('pooled')) continue;
      const [provider = null, eventId = null] = name.split(' ');
      const filter = { eventId, provider, status: null, since: null, unmatchedOnly: true };
      await replayEvents(context, { filter, actor: 'test', reason: 'new keys' }, () => undefined);
    }
  }
}

/**
 * Whether the reports are delivered that an event needs. Paddle reports the address of a buyer in another event: until it is known,
 * anybody can renew a license.
 */
function isReady(
  { report, body }: Arriving,
  waiting: readonly Arriving[],
  open: ReadonlySet<Report>,
): boolean {
  const { purchase, after } = report;
  if (after.some((each) => open.has(each))) return false;
  if (purchase.renews === null || isCustomer(body)) return true;
  return !waiting.some((each) => each.report.purchase === purchase && isCustomer(each.body));
}

function isCustomer(body: string): boolean {
  return body.includes('"event_type":"customer.created"');
}

function toArriving(report: Report): Arriving[] {
  const { happening, purchase } = report;
  const events = purchase.seller === 'gumroad' ? writeGumroad(happening) : writeEvents([happening]);
  return events.map(({ eventId, body }) => ({ report, eventId, body }));
}

function parseObject(body: string): object {
  const parsed: unknown = JSON.parse(body);
  if (typeof parsed !== 'object' || parsed === null) throw new Error('an event is no object');
  return parsed;
}
