/** The page for buyers, while others change the same license. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { AIRGAP_PRODUCT, createRequest } from '../airgap-steps.ts';
import { errorsOf, openBrowser, signInByEmail, startBuyerService } from '../buyer-steps.ts';
import type { TestOrder } from '../harness.ts';
import type { Answer } from '../http-client.ts';
import { activate, anyMachine, listMachines } from '../license-steps.ts';
import { TEST_START } from '../test-clock.ts';
import { runConcurrently, tally, waitForLocks } from './concurrency.ts';

const service = await startBuyerService();

/** Issues a license, and signs a browser in by its key. */
async function open(order: TestOrder = {}) {
  const { license, licenseKey } = await service.issue({
    customerEmail: 'ada@example.com',
    ...order,
  });
  const browser = openBrowser(service);
  await browser.submit('/my/key', { key: licenseKey });
  const path = `/my/licenses/${license.id}`;
  const pathOf = (activationId: string) => `${path}/machines/${activationId}`;
  return {
    license,
    licenseKey,
    activate: async (machine = anyMachine()) =>
      (await activate(service, licenseKey, machine)).activation_id,
    free: (activationId: string) => browser.submit(pathOf(activationId), {}),
    pathOf,
    paste: (request: string) => browser.submit(`${path}/offline`, { request }),
  };
}

/**
 * Changes rows of a license while a request waits for their lock; returns the answer to the request.
 * @param statement its parameter is the id of the license
 */
async function changeUnder(
  licenseId: string,
  statement: string,
  send: () => Promise<Answer>,
): Promise<Answer> {
  const holder = await service.pool.connect();
  try {
    await holder.query('begin');
    await holder.query(statement, [licenseId]);
    const sent = send();
    await waitForLocks(service.pool, 1);
    await holder.query('commit');
    return await sent;
  } finally {
    holder.release();
  }
}

async function countFreed(licenseId: string): Promise<number> {
  const { rows } = await service.pool.query(
    `select from audit_log where subject_id = $1 and action = 'license.free_machine'`,
    [licenseId],
  );
  return rows.length;
}

describe('freeing', () => {
  test('one machine several times at once frees it once, and mails once', async () => {
    const { activate: add, free, license } = await open();
    const id = await add();
    const answers = await runConcurrently(6, () => free(id));
    assert.deepEqual(tally(answers.map(({ status }) => status)), { 200: 6 });
    assert.equal(await countFreed(license.id), 1);
    assert.equal((await service.readMails()).length, 1);
  });

  test('two machines at once when the limit allows one frees one', async () => {
    const { activate: add, free, license, licenseKey } = await open();
    const machine = anyMachine();
    for (let count = 0; count < 4; count += 1) await free(await add(machine));
    const ids = [await add(machine), await add()];
    const answers = await Promise.all(ids.map(free));
    assert.deepEqual(tally(answers.map(({ status }) => status)), { 200: 1, 409: 1 });
    assert.equal(await countFreed(license.id), 5);
    const active = (await listMachines(service, licenseKey)).filter((each) => each.is_active);
    assert.equal(active.length, 1);
  });

  test('frees nothing if the key is replaced before the lock', async () => {
    const { activate: add, free, license } = await open();
    const id = await add();
    const replaced = `with locked as (select id from licenses where id = $1 for update)
      delete from license_keys where license_id in (select id from locked)`;
    assert.equal((await changeUnder(license.id, replaced, () => free(id))).status, 404);
    assert.equal(await countFreed(license.id), 0);
  });

  test('frees nothing if the license gets another owner before the lock', async () => {
    const customerEmail = 'grace@example.com';
    const { activate: add, license, pathOf } = await open({ customerEmail });
    const id = await add();
    const browser = openBrowser(service);
    await signInByEmail(service, browser, customerEmail);
    const sold = `update licenses set customer_email = 'new@example.com' where id = $1`;
    const answer = await changeUnder(license.id, sold, () => browser.submit(pathOf(id), {}));
    assert.equal(answer.status, 404);
    assert.equal(await countFreed(license.id), 0);
  });

  test('a machine that its software deactivates at the same time sends no e-mail', async () => {
    const { activate: add, free, license } = await open();
    const id = await add();
    const deactivated = 'update activations set deactivated_at = now() where license_id = $1';
    const answer = await changeUnder(license.id, deactivated, () => free(id));
    assert.equal(answer.status, 200);
    assert.equal(await countFreed(license.id), 0);
    assert.deepEqual(await service.readMails(), []);
  });
});

describe('a request that is pasted', () => {
  test('several times at once activates its machine once', async () => {
    const { licenseKey, paste } = await open({ productId: AIRGAP_PRODUCT });
    const request = createRequest();
    const answers = await runConcurrently(6, () => paste(request));
    assert.deepEqual(tally(answers.map(({ status }) => status)), { 200: 6 });
    assert.equal((await listMachines(service, licenseKey)).length, 1);
  });

  test('while the license is refunded gets no entitlement, and the reason', async () => {
    const { license, licenseKey, paste } = await open({ productId: AIRGAP_PRODUCT });
    const refunded = `update licenses set refunded_at = '${TEST_START.toISOString()}' where id = $1`;
    const answer = await changeUnder(license.id, refunded, () => paste(createRequest()));
    assert.deepEqual(
      [answer.status, errorsOf(answer)],
      [403, ['The payment was refunded, so this license does not work any more.']],
    );
    assert.deepEqual(await listMachines(service, licenseKey), []);
  });
});
