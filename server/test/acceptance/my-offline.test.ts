/** The page for buyers, opened by a telephone that scanned the request of a machine without a connection. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { AIRGAP_PRODUCT, createRequest } from '../airgap-steps.ts';
import {
  codeOf,
  errorsOf,
  openBrowser,
  startBuyerService,
  titleOf,
  type BuyerBrowser,
} from '../buyer-steps.ts';
import type { Answer } from '../http-client.ts';
import { activate } from '../license-steps.ts';

const service = await startBuyerService();

const request = createRequest();
const OPENED = `/my/offline?request=${request}`;

function noticeOf({ text }: Answer): string {
  return /role="status">(?<notice>[^<]*)</u.exec(text)?.groups?.['notice'] ?? '';
}

function enteredIn({ text }: Answer): string {
  return /<textarea id="request"[^>]*>(?<entered>[^<]*)</u.exec(text)?.groups?.['entered'] ?? '';
}

/** Issues licenses to an address, and signs a browser in by its code. */
async function signIn(browser: BuyerBrowser, email: string, products: readonly string[]) {
  for (const productId of products) await service.issue({ productId, customerEmail: email });
  await browser.submit('/my/email', { email });
  return browser.submit('/my/code', { code: codeOf((await service.readMails()).at(-1)) });
}

describe('a scanned request', () => {
  test('waits for the sign-in by key, and is answered once', async () => {
    const { licenseKey } = await service.issue({ productId: AIRGAP_PRODUCT });
    const browser = openBrowser(service);
    const opened = await browser.get(OPENED);
    assert.deepEqual(
      [opened.status, titleOf(opened), noticeOf(opened)],
      [200, 'Your licenses', 'Your request is here. Sign in to get the answer.'],
    );
    const form = await browser.submit('/my/key', { key: licenseKey });
    assert.deepEqual(
      [titleOf(form), enteredIn(form)],
      ['A computer without a connection', request],
    );
    const path = /action="(?<path>\/my\/licenses\/[^"]+)"/u.exec(form.text)?.groups?.['path'] ?? '';
    const answer = await browser.submit(path, { request: enteredIn(form) });
    assert.equal(titleOf(answer), 'Your answer is ready');
    assert.equal(enteredIn(await browser.get(path)), '');
    assert.equal(titleOf(await browser.get('/my/offline')), 'Yearly');
  });

  test('is not kept after the sign-out', async () => {
    const { licenseKey } = await service.issue({ productId: AIRGAP_PRODUCT });
    const browser = openBrowser(service);
    await browser.get(OPENED);
    await browser.submit('/my/key', { key: licenseKey });
    await browser.submit('/my/sign-out', {});
    assert.equal(browser.cookies.size, 0);
    assert.equal(noticeOf(await browser.get('/my/offline')), '');
  });

  test('shows the license of its product at once, among others', async () => {
    const browser = openBrowser(service);
    await browser.get(OPENED);
    const form = await signIn(browser, 'one@example.com', ['personal', AIRGAP_PRODUCT, 'sellers']);
    assert.equal(enteredIn(form), request);
  });

  test('lets the owner of several choose, and explains that there is none', async () => {
    const browser = openBrowser(service);
    await browser.get(OPENED);
    const list = await signIn(browser, 'two@example.com', [
      AIRGAP_PRODUCT,
      'personal',
      AIRGAP_PRODUCT,
    ]);
    assert.equal(noticeOf(list), 'Choose the license that the computer of the request shall use.');
    assert.equal(list.text.split('Use this license').length - 1, 2);
    const other = openBrowser(service);
    await other.get(OPENED);
    const none = await signIn(other, 'three@example.com', ['personal', 'sellers']);
    assert.deepEqual(errorsOf(none), [
      'None of these licenses is for the software of the request.',
    ]);
    assert.doesNotMatch(none.text, /Use this license/u);
  });

  test('opened by a signed-in buyer goes to the form, and changes nothing', async () => {
    const { license, licenseKey } = await service.issue({ productId: AIRGAP_PRODUCT });
    await activate(service, licenseKey);
    const browser = openBrowser(service);
    await browser.submit('/my/key', { key: licenseKey });
    assert.equal(enteredIn(await browser.get(OPENED)), request);
    const { rows } = await service.pool.query(
      'select from activations where license_id = $1 and airgapped_until is not null',
      [license.id],
    );
    assert.equal(rows.length, 0);
  });

  test('that is damaged is explained, and one that is no request is refused', async () => {
    const damaged = 'Part of the request is missing or changed. Copy all of it again.';
    for (const text of [request.slice(0, -3), 'LKR1.x', 'x', `${request}%0d%0aSet-Cookie:%20x=y`]) {
      const browser = openBrowser(service);
      const answer = await browser.get(`/my/offline?request=${text}`);
      assert.deepEqual([answer.status, errorsOf(answer)], [422, [damaged]], text);
      assert.equal(browser.cookies.size, 0);
    }
    assert.equal(titleOf(await openBrowser(service).get('/my/offline')), 'Your licenses');
  });
});
