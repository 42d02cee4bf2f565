import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';
import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { TEST_WEBHOOK_SECRETS } from '../harness.ts';
import { readBody } from '../acceptance/bodies.ts';
import { openDeployments } from './deployments.ts';
import {
  paymentScenarios,
  SCENARIOS_END,
  type PaymentScenario,
  type SeenLicense,
} from './payment-scenarios.ts';

const { one, pick, isOfWorkers, now } = await openDeployments({
  LATCHKEY_BILLING_SECRETS: TEST_WEBHOOK_SECRETS.paddle.join(','),
  LATCHKEY_STRIPE_SECRETS: TEST_WEBHOOK_SECRETS.stripe.join(','),
});
if (!isOfWorkers) one.clock.set(SCENARIOS_END);

/** Workers have the clock of the system, before or after the times of scenarios in which a license ends. */
function isTestable({ ends }: PaymentScenario): boolean {
  return !isOfWorkers || ends.every(({ expires_at: end }) => end === null);
}

const RUNS_PER_SCENARIO = 12;

const Checked = Type.Array(
  Type.Object({
    license_key: Type.Union([Type.String(), Type.Null()]),
    status: Type.String(),
    expires_at: Type.Union([Type.String(), Type.Null()]),
    product_type: Type.Union([Type.String(), Type.Null()]),
  }),
);

/** Random orders of deliveries, each twice. */
function anyOrder(length: number) {
  const all = Array.from({ length }, (_, index) => index);
  return fc.shuffledSubarray([...all, ...all], { minLength: length * 2, maxLength: length * 2 });
}

async function deliver(scenario: PaymentScenario, order: readonly number[], concurrent: boolean) {
  const deliveries = scenario.deliveries(now());
  const send = async (which: number, turn: number): Promise<unknown> => {
    const { body, headers } = deliveries[which] ?? assert.fail('an order names no delivery');
    const answer = await pick(turn).post(scenario.path, body, headers);
    assert.equal(answer.status, 200, answer.text);
    return readBody(answer.body)['status'];
  };
  if (concurrent) return Promise.all(order.map(send));
  const statuses: unknown[] = [];
  for (const [turn, which] of order.entries()) statuses.push(await send(which, turn));
  return statuses;
}

async function check(id: string) {
  const { body } = await one.get(`/api/v1/licenses/check/${id}`);
  return Parse(Checked, readBody(body)['licenses']);
}

type SoldTerms = Pick<
  SeenLicense,
  'tier' | 'features' | 'max_activations' | 'customer_email' | 'customer_name'
>;

/** The license as seen by the buyer (`check`) and by the seller. */
async function readSoldLicenses({ checkoutId }: PaymentScenario): Promise<SeenLicense[]> {
  const checked = await check(checkoutId);
  const { rows } = await one.pool.query<SoldTerms>(
    `select l.tier, l.features, l.max_activations, l.customer_email, l.customer_name
     from license_transactions found join licenses l on l.id = found.license_id
     where found.transaction_id = $1 order by found.position`,
    [checkoutId],
  );
  assert.equal(rows.length, checked.length);
  return checked.flatMap(({ license_key: key, status, expires_at, product_type }, index) => {
    const row = rows[index];
    const shown = { status, expires_at, product_type, is_key_shown: key !== null };
    return row === undefined ? [] : [{ ...shown, ...row }];
  });
}

/** Lists the number of licenses of each e-mail with keys: in a job, or after it, because workers run it. */
async function listKeyEmails({ checkoutId, otherIds }: PaymentScenario): Promise<number[]> {
  const { rows } = await one.pool.query<{ licenses: number }>(
    `with queued as (
       select payload->>'transactionId' as transaction_id from jobs
       where payload->>'transactionId' = any ($1)
     ), handled as (
       select transaction_id from key_emails
       where transaction_id = any ($1) and transaction_id not in (select transaction_id from queued)
     )
     select (select count(*)::integer from billing_licenses made
             where made.transaction_id = each.transaction_id) as licenses
     from (select * from queued union all select * from handled) each`,
    [[checkoutId, ...otherIds]],
  );
  return rows.map(({ licenses }) => licenses);
}

describe("a provider's deliveries in any order, each twice, to two processes, lead to the same licenses", () => {
  for (const [name, createScenario] of Object.entries(paymentScenarios)) {
    const skip = !isTestable(createScenario()) && 'needs the clock of the tests';
    test(name, { skip }, async () => {
      const { length } = createScenario().deliveries(now());
      await fc.assert(
        fc.asyncProperty(anyOrder(length), fc.boolean(), async (order, concurrent) => {
          const scenario = createScenario();
          const statuses = await deliver(scenario, order, concurrent);
          assert.equal(statuses.filter((status) => status === 'duplicate').length, length);
          assert.equal(statuses.filter((status) => status === 'processed').length, length);
          assert.deepEqual(await readSoldLicenses(scenario), scenario.ends);
          for (const id of scenario.otherIds) assert.deepEqual(await check(id), [], id);
          assert.deepEqual(await listKeyEmails(scenario), [scenario.ends.length]);
        }),
        { numRuns: RUNS_PER_SCENARIO },
      );
    });
  }
});
