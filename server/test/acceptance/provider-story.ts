/** Plays the life of a subscription at a provider, and reads its license as the checkout page does. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { Webhook } from 'standardwebhooks';

import { startTestService, type TestService } from '../harness.ts';
import { testCatalog } from '../test-catalog.ts';
import { DAY_MS, TEST_START } from '../test-clock.ts';
import { readBody } from './bodies.ts';

export const APRIL = new Date('2027-04-01T12:00:00.000Z');
export const MAY = new Date('2027-05-01T12:00:00.000Z');
export const FIRST = { startsAt: TEST_START, endsAt: APRIL };
export const SECOND = { startsAt: APRIL, endsAt: MAY };
/** The times of the cancellation and of the refund. */
export const ANNOUNCED = new Date(APRIL.getTime() + 5 * DAY_MS);
export const REFUNDED = new Date(MAY.getTime() + 2 * DAY_MS);

type Sign = (body: string, at: Date) => Record<string, string>;

/** The events of a provider for each step. */
interface Story {
  readonly path: string;
  readonly sign: Sign;
  readonly checkoutId: string;
  readonly purchase: readonly unknown[];
  readonly renewal: readonly unknown[];
  readonly cancellation: readonly unknown[];
  readonly end: readonly unknown[];
  readonly refund: readonly unknown[];
}

/** Follows a story in tests. */
export type Follow = (provider: string, story: Story) => void;

/** Starts a service with these prices, in YAML, and returns what follows stories in it. */
export async function startStories(prices: string): Promise<Follow> {
  const catalog = testCatalog(`
key_prefix: LK
trial: { product: team, features: [] }
products:
  - id: team
    name: Team
    product_type: team
    tier: team
    features: []
    max_activations: 5
    offline_days: 14
    prices: { ${prices} }
`);
  const service = await startTestService({ catalog });
  beforeEach(() => forgetPurchases(service));
  return (provider, story) => follow(service, provider, story);
}

let deliveries = 0;

/** Signs by the library of the Standard Webhooks specification. */
export function signAs(secret: string): Sign {
  return (body, at) => {
    const id = `msg_${(deliveries += 1)}`;
    return {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign(id, at, body),
    };
  };
}

/** Delivers a step at its time, and returns the license as the check of the transaction shows it. */
async function deliverStep(
  service: TestService,
  { path, sign, checkoutId }: Story,
  at: Date,
  events: readonly unknown[],
) {
  service.clock.set(at);
  for (const event of events) {
    const body = JSON.stringify(event);
    const answer = await service.post(path, body, sign(body, at));
    assert.equal(answer.status, 200, answer.text);
    assert.ok(['processed', 'ignored'].includes(String(readBody(answer.body)['status'])));
  }
  const checked = await service.get(`/api/v1/licenses/check/${checkoutId}`);
  const { licenses, status, expires_at: expiresAt, license_key: key } = readBody(checked.body);
  assert.ok(Array.isArray(licenses) && licenses.length === 1, checked.text);
  return [status, expiresAt, key !== null];
}

function follow(service: TestService, provider: string, story: Story): void {
  test(`${provider}: purchase, renewal, cancellation, refund`, async () => {
    const [april, may] = [APRIL.toISOString(), MAY.toISOString()];
    assert.deepEqual(await deliverStep(service, story, TEST_START, story.purchase), [
      'active',
      april,
      true,
    ]);
    assert.deepEqual(await deliverStep(service, story, APRIL, story.renewal), [
      'active',
      may,
      false,
    ]);
    assert.deepEqual(await deliverStep(service, story, ANNOUNCED, story.cancellation), [
      'active',
      may,
      false,
    ]);
    assert.deepEqual(await deliverStep(service, story, MAY, story.end), ['canceled', may, false]);
    assert.deepEqual(await deliverStep(service, story, REFUNDED, story.refund), [
      'refunded',
      may,
      false,
    ]);
  });

  test(`${provider}: the signature of another body changes nothing`, async () => {
    await deliverStep(service, story, TEST_START, story.purchase);
    const body = JSON.stringify(story.refund[0]);
    const answer = await service.post(story.path, body, story.sign(`${body} `, TEST_START));
    assert.equal(answer.status, 401);
    const april = APRIL.toISOString();
    assert.deepEqual(await deliverStep(service, story, TEST_START, []), ['active', april, true]);
  });
}

async function forgetPurchases(service: TestService): Promise<void> {
  service.clock.set(TEST_START);
  await service.pool.query(
    'truncate billing_events, billing_payments, billing_subscriptions, billing_adjustments, billing_aliases, billing_licenses, license_transactions',
  );
}
