/** Tells stories to a service, and reads what it made of them. */
import type * as fc from 'fast-check';

import { eventState } from '#server/features/billing/rules/event-state.ts';

import { toDate, toDay } from '../../../soak/year/happenings.ts';
import { startTestService, type TestService } from '../harness.ts';
import { testCatalog } from '../test-catalog.ts';
import { writeCatalog } from './goods.ts';
import { computeOutcome, type ModelLicense, type Outcome } from './model-shop.ts';
import { Player } from './play-story.ts';
import { Story } from './story.ts';
import type { Step } from './story-steps.ts';

/** Starts a service that sells everything of the model. */
export async function startModelService(): Promise<TestService> {
  const service = await startTestService({ catalog: testCatalog(writeCatalog(0)) });
  // Events of the future are refused.
  service.clock.set(toDate(10_000));
  return service;
}

interface Delivery {
  readonly steps: readonly Step[];
  readonly hasUpgrades: boolean;
  /** Draws the order of delivery. */
  readonly seeds: fc.Stream<number>;
}

/** The outcomes of a story, by the service and by the model; purchases are numbered in their order. */
interface Outcomes {
  readonly found: Outcome;
  readonly modeled: Outcome;
}

const PEOPLE = [0, 1, 2, 3];

let stories = 0;

/** Delivers a story, and returns its outcomes. */
export async function tell(
  service: TestService,
  { steps, hasUpgrades, seeds }: Delivery,
): Promise<Outcomes> {
  stories += 1;
  const start = stories * 100;
  const emailOf = (person: number) => `p${person}.story${start}@example.com`;
  const story = new Story(start, emailOf, hasUpgrades);
  for (const step of steps) story.take(step);
  story.end();
  const player = new Player(service, seeds);
  await player.play(story);
  const modeled = computeOutcome(story.purchases);
  const found = {
    licenses: await readLicenses(service, PEOPLE.map(emailOf)),
    attention: await readAttention(service, player),
  };
  return { found: normalize(found, start), modeled: normalize(modeled, start) };
}

function normalize({ licenses, attention }: Outcome, start: number): Outcome {
  return {
    licenses: licenses
      .map((each) => ({ ...each, end: toRounded(each.end), updates: toRounded(each.updates) }))
      .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    attention: attention.map((number) => number - start).sort((a, b) => a - b),
  };
}

/** Providers round times to seconds or days. */
function toRounded(day: number | null): number | null {
  return day === null ? null : Math.round(day * 10) / 10;
}

interface Row {
  readonly customer_email: string;
  readonly product_id: string;
  readonly max_activations: number;
  readonly expires_at: Date | null;
  readonly updates_until: Date | null;
  readonly refunded_at: Date | null;
  readonly canceled_at: Date | null;
  readonly disputed_at: Date | null;
  readonly is_test: boolean;
}

async function readLicenses(
  { pool }: TestService,
  emails: readonly string[],
): Promise<ModelLicense[]> {
  const { rows } = await pool.query<Row>('select * from licenses where customer_email = any ($1)', [
    emails,
  ]);
  return rows.map((row) => ({
    owner: emails.indexOf(row.customer_email),
    product: row.product_id,
    machines: row.max_activations,
    end: row.expires_at === null ? null : toDay(row.expires_at),
    updates: row.updates_until === null ? null : toDay(row.updates_until),
    isRefunded: row.refunded_at !== null,
    isCanceled: row.canceled_at !== null,
    isDisputed: row.disputed_at !== null,
    isTest: row.is_test,
  }));
}

interface StoredOutcome {
  readonly name: string;
  readonly status: 'processed' | 'ignored' | 'deferred' | 'failed';
  readonly message: string | null;
}

/** Lists the purchases with an event that needs an operator. */
async function readAttention(
  { pool }: TestService,
  { purchaseOf }: Player,
): Promise<readonly number[]> {
  const { rows } = await pool.query<StoredOutcome>(
    `select provider || ' ' || event_id as name, status, message from billing_events
     where provider || ' ' || event_id = any ($1)`,
    [[...purchaseOf.keys()]],
  );
  const numbers = rows
    .filter((row) => eventState(row) === 'unmatched')
    .flatMap(({ name }) => purchaseOf.get(name)?.number ?? []);
  return [...new Set(numbers)];
}
