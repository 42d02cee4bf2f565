/** A buyer of a subscription at Paddle that began in an old shop: its events here, and its rows there. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import type { TestService } from '../../../test/harness.ts';
import {
  paddleSubscription,
  paddleTransactionCompleted,
} from '../../../test/payment-providers/paddle-events.ts';
import { answerPaddle } from '../../../test/payment-providers/api-stand-ins.ts';
import {
  createPaddlePurchase,
  deliverPaddle,
} from '../../../test/payment-providers/paddle-steps.ts';
import { TEST_START } from '../../../test/test-clock.ts';
import { hashWithAllSecrets } from '../licenses/license-key.ts';
import { findLicenseIdByKey } from '../licenses/queries/license-keys.ts';
import type { ForeignLicense } from './facts.ts';
import { foreign } from './import-steps.fixture.ts';
import { APRIL, MAY } from './provider-shops.fixture.ts';

const PRICE = 'pri_team';

const FIRST = { startsAt: TEST_START, endsAt: APRIL };
const SECOND = { startsAt: APRIL, endsAt: MAY };
const HOUR_MS = 3_600_000;

const at = (hours: number) => new Date(APRIL.getTime() + hours * HOUR_MS);

/** Opens the story of one buyer. */
export function openStory(name: string) {
  const email = `${name}@example.com`;
  const ids = createPaddlePurchase(PRICE);
  const { subscriptionId, customerId } = ids;
  const customData = { email };
  const common = { ...ids.monthly, customData };
  const snapshot = { ...common, transactionId: null };
  const { data } = paddleSubscription('updated', { ...snapshot, period: FIRST });
  return {
    email,
    subscriptionId,
    transactionId: ids.transactionId,
    licenseKey: randomUUID().toUpperCase(),
    events: {
      purchase: paddleTransactionCompleted({ ...common, period: FIRST, occurredAt: TEST_START }),
      start: paddleSubscription('created', { ...common, period: FIRST, occurredAt: TEST_START }),
      renewal: paddleTransactionCompleted({
        ...common,
        transactionId: `${ids.transactionId}_2`,
        origin: 'subscription_recurring',
        period: SECOND,
        occurredAt: at(0),
      }),
      update: paddleSubscription('updated', { ...snapshot, period: SECOND, occurredAt: at(1) }),
      cancellation: paddleSubscription('canceled', { ...snapshot, occurredAt: at(2) }),
    },
    api: answerPaddle({
      authorization: 'Bearer key_of_the_account',
      subscriptions: [{ ...data, id: subscriptionId }],
      customers: [{ id: customerId, email, name: 'Ann', locale: 'en' }],
    }),
  };
}

export type Story = ReturnType<typeof openStory>;

/** Returns the row of the old shop, with the key that the customer has. */
export function rowOf(story: Story, values: Partial<ForeignLicense> = {}): ForeignLicense {
  return foreign({
    products: [{ id: 'team', name: null }],
    licenseKey: story.licenseKey,
    customerEmail: story.email,
    expiresAt: APRIL,
    isSubscription: true,
    provider: 'paddle',
    subscriptionId: story.subscriptionId,
    ...values,
  });
}

/** Delivers events of a story, in their order. */
export async function deliver(
  service: TestService,
  story: Story,
  ...names: (keyof Story['events'])[]
): Promise<void> {
  for (const name of names) await deliverPaddle(service, story.events[name]);
}

/** Returns the license of a key; null: none has it. */
export async function findByKey(
  { context, pool }: Pick<TestService, 'context' | 'pool'>,
  licenseKey: string,
): Promise<string | null> {
  return findLicenseIdByKey(pool, hashWithAllSecrets(context, licenseKey));
}

/** Returns the ids of the licenses of a buyer, oldest first. */
export async function listLicenseIds(
  { pool }: Pick<TestService, 'pool'>,
  { email }: Story,
): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    'select id from licenses where customer_email = $1 order by id',
    [email],
  );
  return rows.map(({ id }) => id);
}

/** Returns the only license of a buyer. */
export async function onlyLicenseId(
  service: Pick<TestService, 'pool'>,
  story: Story,
): Promise<string> {
  const [id, ...others] = await listLicenseIds(service, story);
  assert.deepEqual(others, []);
  assert.ok(id);
  return id;
}
