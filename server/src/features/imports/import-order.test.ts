import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { startTestService } from '../../../test/harness.ts';
import { startPaddleApiStub } from '../../../test/payment-providers/paddle-api-stub.ts';
import { testCatalog } from '../../../test/test-catalog.ts';
import { SECOND_MS } from '../../../test/test-clock.ts';
import type { ForeignLicense } from './facts.ts';
import { importFromApi } from './import-from-api.ts';
import { runImport } from './import-steps.fixture.ts';
import { APRIL, CATALOG } from './provider-shops.fixture.ts';
import { readMapping } from './rules/map-product.ts';
import { undoImport, type UndoResult } from './undo-import.ts';
import {
  deliver,
  findByKey,
  listLicenseIds,
  openStory,
  rowOf,
  type Story,
} from './subscriber-story.fixture.ts';

const service = await startTestService({ catalog: testCatalog(CATALOG) });
const { context, pool, clock } = service;
const stub = await startPaddleApiStub();
const by = { actor: 'cli:test', reason: null };

const EVENTS = ['start', 'purchase', 'renewal', 'update', 'cancellation'] as const;
const IMPORTS = ['file', 'api'] as const;

type Step = (typeof EVENTS)[number] | (typeof IMPORTS)[number] | 'undo';

/** How the row of the file names the subscription. */
const NAMES: Readonly<Record<string, (story: Story) => Partial<ForeignLicense>>> = {
  subscription: () => ({}),
  'without provider': () => ({ provider: null }),
  transaction: ({ transactionId }) => ({ subscriptionId: null, transactionId }),
};

/** Each event once or twice, and any number of imports and undos, in any order. */
const anySteps: fc.Arbitrary<readonly Step[]> = fc
  .tuple(
    fc.array(fc.constantFrom(...EVENTS), { maxLength: 5 }),
    fc.array(fc.constantFrom(...IMPORTS, 'undo' as const), { minLength: 1, maxLength: 6 }),
  )
  .chain(([events, imports]) =>
    fc.shuffledSubarray([...events, ...imports], { minLength: events.length + imports.length }),
  );

/** What is observed of one buyer: as if the ids were not drawn. */
async function readState(story: Story): Promise<unknown> {
  const { rows } = await pool.query(
    `select l.product_id, l.expires_at, l.max_activations, l.subscription, l.canceled_at is not null as is_canceled,
            l.refunded_at, l.paused_at, l.disputed_at,
            (select count(*)::int from license_keys k where k.license_id = l.id) as keys,
            (select count(*)::int from license_added_keys a where a.license_id = l.id) as added,
            (select count(*)::int from imported_seats s where s.license_id = l.id) as seats,
            (select count(*)::int from imported_licenses i where i.license_id = l.id) as imported,
            (select array_agg(n.kind || coalesce(n.provider, '') order by 1) from license_names n where n.license_id = l.id) as names,
            (select array_agg(b.line_key order by 1) from billing_licenses b where b.license_id = l.id) as lines
     from licenses l where l.customer_email = $1 order by l.id`,
    [story.email],
  );
  return rows;
}

/** One buyer to whom steps happen. */
class Buyer {
  readonly story: Story;
  readonly #values: Partial<ForeignLicense>;
  readonly #open: { readonly importId: string; readonly kind: (typeof IMPORTS)[number] }[] = [];
  /** Whether the key must work. */
  isKeyImported = false;

  constructor(story: Story, values: Partial<ForeignLicense>) {
    this.story = story;
    this.#values = values;
  }

  async take(step: Step): Promise<void> {
    if (step === 'undo') await this.undoLast();
    else if (step === 'file' || step === 'api') await this.#import(step);
    else await deliver(service, this.story, step);
  }

  async #import(kind: (typeof IMPORTS)[number]): Promise<void> {
    const importId = kind === 'file' ? await this.#importFile() : await this.#importApi();
    this.#open.push({ importId, kind });
    if (kind === 'file') this.isKeyImported = true;
  }

  async #importFile(): Promise<string> {
    const device = { id: `device-${this.story.email}`, label: null, lastSeenAt: null };
    const row = rowOf(this.story, { devices: [device], ...this.#values });
    const { importId, report } = await runImport(context, [row], { source: 'csv' });
    const { new: created, same, key_added: added, renewed } = report.outcomes;
    assert.equal(created + same + added + renewed, 1, JSON.stringify(report));
    return importId ?? '';
  }

  async #importApi(): Promise<string> {
    stub.answer = this.story.api;
    const { importId, report } = await importFromApi(context, {
      source: 'paddle',
      apiKey: 'key_of_the_account',
      apiUrl: stub.url,
      mapping: readMapping([], context.catalog()),
      dryRun: false,
      ...by,
    });
    assert.equal(report.outcomes.conflict + report.outcomes.bad, 0, JSON.stringify(report));
    return importId ?? '';
  }

  /** Undoes the newest import; null without one. */
  async undoLast(): Promise<UndoResult | null> {
    const last = this.#open.pop();
    if (last === undefined) return null;
    const request = { importId: last.importId, ...by };
    const rehearsal = await undoImport(context, { ...request, dryRun: true });
    const result = await undoImport(context, { ...request, dryRun: false });
    assert.deepEqual(result, rehearsal);
    this.isKeyImported = (await findByKey(service, this.story.licenseKey)) !== null;
    const isKept = Object.values(result?.kept ?? {}).some((count) => count > 0);
    if (isKept && last.kind === 'file')
      assert.ok(this.isKeyImported, 'a kept license keeps its key');
    return result;
  }
}

let buyers = 0;

function openBuyer(name: string): Buyer {
  buyers += 1;
  const story = openStory(`buyer-${buyers}`);
  return new Buyer(story, NAMES[name]?.(story) ?? {});
}

async function requireOneLicense({ story, isKeyImported }: Buyer): Promise<void> {
  const ids = await listLicenseIds(service, story);
  assert.ok(ids.length <= 1, `${ids.length} licenses`);
  const found = await findByKey(service, story.licenseKey);
  assert.deepEqual(found, isKeyImported ? ids[0] : null);
}

test('one license has the imported key, whatever the order of payments, imports and undos', async () => {
  await fc.assert(
    fc.asyncProperty(anySteps, fc.constantFrom(...Object.keys(NAMES)), async (steps, name) => {
      clock.set(APRIL);
      const buyer = openBuyer(name);
      for (const step of steps) {
        await buyer.take(step);
        await requireOneLicense(buyer);
        clock.advance(SECOND_MS);
      }
    }),
    { numRuns: 60 },
  );
});

test('an import that is undone leaves what was there before it, also after payments that came between', async () => {
  const eventsOnly = fc.array(fc.constantFrom<Step>(...EVENTS, ...IMPORTS), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(
      eventsOnly,
      fc.constantFrom<Step>(...IMPORTS),
      fc.array(fc.constantFrom<Step>(...EVENTS), { maxLength: 3 }),
      fc.constantFrom(...Object.keys(NAMES)),
      async (before, imported, between, name) => {
        clock.set(APRIL);
        const [buyer, twin] = [openBuyer(name), openBuyer(name)];
        for (const step of [...before, ...between]) await twin.take(step);
        for (const step of [...before, imported, ...between]) await buyer.take(step);
        const result = await buyer.undoLast();
        const isKept = Object.values(result?.kept ?? {}).some((count) => count > 0);
        if (!isKept) assert.deepEqual(await readState(buyer.story), await readState(twin.story));
      },
    ),
    { numRuns: 40 },
  );
});
