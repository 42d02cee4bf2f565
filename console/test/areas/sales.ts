/** Payments, outgoing webhooks and mails: what operators do with them, by keyboard alone, and texts of others that stay text. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { addEndpoint } from '../../../server/src/features/outgoing-webhooks/add-endpoint.ts';
import { createPaddleApi } from '../../../server/src/features/billing/providers/paddle/paddle-api.ts';
import {
  answerLog,
  startPaddleApiStub,
} from '../../../server/test/payment-providers/paddle-api-stub.ts';
import { paddleTransactionCompleted } from '../../../server/test/payment-providers/paddle-events.ts';
import { createPaddlePurchase } from '../../../server/test/payment-providers/paddle-steps.ts';
import { HOUR_MS } from '../../../server/test/test-clock.ts';
import {
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../../server/test/webhook-receiver.ts';
import { press, pressButton } from '../keyboard.ts';
import { type Console } from '../open-console.ts';
import { waitUntilShown } from '../windows.ts';
import { HOSTILE } from '../world/sales.ts';

const FIELDS = { Reason: 'a test of the shop' };

async function registerEndpoint({ service }: Console, { url }: WebhookReceiver): Promise<string> {
  const order = { url, eventTypes: [], description: null };
  const change = { actor: 'test', reason: null };
  return (await addEndpoint(service.context, order, change)).endpoint.id;
}

export function testSales(running: () => Console): void {
  test('reveals a hostile payload as text, replays the event and dismisses it', async () => {
    const { world, open } = running();
    const { page, close, go } = await open('admin');
    await go(`/payments/paddle/${world['salesFailedEventId']}`);
    await press(page, 'Reveal payload');
    const payload = page.locator('pre.json');
    await payload.waitFor();
    const shown = JSON.parse((await payload.textContent()) ?? '');
    assert.equal(shown.data.items, HOSTILE);
    assert.equal(await page.locator('pre.json *').count(), 0);
    assert.match(await page.title(), /^transaction\.completed · Latchkey$/);

    await pressButton(page, { label: 'Replay', fields: FIELDS, done: 'The event was replayed.' });
    await pressButton(page, { label: 'Dismiss', fields: FIELDS });
    await page.getByText('An operator dismissed the event: a test of the shop.').waitFor();
    await close();
  });

  test('hides a revealed payload after a minute', async () => {
    const { world, open } = running();
    const { page, close, go } = await open('support', { width: 1440, own: true });
    await page.clock.install();
    await go(`/payments/paddle/${world['salesEventId']}`);
    await press(page, 'Reveal payload');
    const payload = page.locator('pre.json');
    await payload.waitFor();
    await page.clock.runFor(59_000);
    assert.equal(await payload.count(), 1);
    await page.clock.runFor(1_000);
    await payload.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Reveal payload' }).waitFor();
    await close();
  });

  test('replays all payments without a license, and reports the outcome', async () => {
    const { page, close, go } = await running().open('admin');
    await go('/payments?state=unmatched');
    const done = 'Replayed 1: 0 applied, 1 not.';
    await pressButton(page, { label: 'Replay all', fields: FIELDS, done });
    await close();
  });

  test('goes on with a replay of all after a part failed', async () => {
    const { page, close, go } = await running().open('admin');
    const cursors: unknown[] = [];
    await page.route('**/payment-events/replay', async (route) => {
      const body: unknown = route.request().postDataJSON();
      assert.ok(typeof body === 'object' && body !== null);
      cursors.push('cursor' in body ? body.cursor : null);
      if (cursors.length === 2) return route.fulfill({ status: 503 });
      const next = cursors.length === 1 ? 'second' : null;
      return route.fulfill({ json: { outcomes: [{ state: 'applied' }], next_cursor: next } });
    });
    await go('/payments?state=failed');
    await pressButton(page, { label: 'Replay all', fields: FIELDS });
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Replayed 1: 1 applied, 0 not. …').waitFor();
    await dialog.getByRole('alert').waitFor();
    await press(page, 'Replay all');
    await dialog.getByText('Replayed 2: 2 applied, 0 not.').waitFor();
    assert.deepEqual(cursors, [null, 'second', 'second']);
    await close(/status of 503/);
  });

  test('finds an event that was not received, and applies it', async () => {
    const { service } = running();
    const missed = paddleTransactionCompleted({
      ...createPaddlePurchase().once,
      occurredAt: new Date(service.clock.now().getTime() - 2 * HOUR_MS),
    });
    const paddle = await startPaddleApiStub();
    paddle.answer = answerLog([missed]);
    const api = createPaddleApi({ url: paddle.url, apiKey: 'key', clock: service.clock });
    const { page, close, go } = await running().open('admin');
    Object.assign(service.context, { paddleApi: api });
    try {
      await go('/payments');
      const done = 'Compared 1 event. 1 was missing and is applied now.';
      await pressButton(page, { label: 'Find missed events', confirm: 'Compare', done });
      await press(page, 'Close');
    } finally {
      Object.assign(service.context, { paddleApi: null });
    }
    await go(`/payments/paddle/${missed.event_id}`);
    await page.getByText('The event is applied.').waitFor();
    await close();
  });

  test('a viewer sees payments, but neither payloads nor changes', async () => {
    const { world, open } = running();
    const { page, close, go } = await open('viewer');
    await go(`/payments/paddle/${world['salesEventId']}`);
    await page.getByText('The event is applied.').waitFor();
    for (const name of ['Reveal payload', 'Replay', 'Dismiss']) {
      assert.equal(await page.getByRole('button', { name }).count(), 0, name);
    }
    await close();
  });

  test('adds an endpoint, whose secret is shown once, pauses it and rotates its secret', async () => {
    const { page, close, go } = await running().open('admin');
    await go('/webhooks');
    const url = 'https://erp.example.com/hooks';
    const fields = { URL: url, ...FIELDS };
    await pressButton(page, { label: 'Add endpoint', confirm: 'Add', fields });
    const dialog = page.getByRole('dialog', { name: 'Signing secret' });
    assert.match((await dialog.locator('code').textContent()) ?? '', /^whsec_/);
    await press(page, 'Done');
    await press(page, url);
    await pressButton(page, { label: 'Pause', fields: FIELDS, done: 'An operator paused it.' });
    await pressButton(page, { label: 'Resume', fields: FIELDS, done: 'The endpoint is resumed.' });
    // The next change sends the version that the page shows.
    await page.locator('h1').getByText('active').waitFor();
    await pressButton(page, { label: 'Rotate secret', confirm: 'Rotate', fields: FIELDS });
    await dialog.waitFor();
    await press(page, 'Done');
    await page.getByText('Old secret valid until').waitFor();
    await pressButton(page, { label: 'Remove', fields: FIELDS });
    await page.waitForURL('**/console/webhooks');
    await waitUntilShown(page);
    await close();
  });

  test('shows the answer to a test message as text', async () => {
    await using receiver = await startWebhookReceiver();
    receiver.answer((response) => response.writeHead(500).end(HOSTILE));
    const id = await registerEndpoint(running(), receiver);
    const { page, close, go } = await running().open('admin');
    await go(`/webhooks/${id}`);
    const done = 'The endpoint did not accept the message: answered 500';
    await pressButton(page, { label: 'Send test', confirm: 'Send', done });
    const answer = (await page.locator('pre.json').textContent()) ?? '';
    assert.ok(HOSTILE.startsWith(answer.slice(0, 500)));
    await close();
  });

  test('shows every attempt of a delivery, and replays it', async () => {
    const { world, open } = running();
    const { page, close, go } = await open('admin');
    await go(`/webhooks/${world['salesEndpointId']}/${world['salesMessageId']}`);
    assert.equal(await page.locator('.timeline > li').count(), 2);
    assert.ok((await page.locator('.timeline pre').count()) > 0);
    await pressButton(page, { label: 'Replay', fields: FIELDS, done: 'The delivery is queued.' });
    await close();
  });

  test('shows attempts without the answers of the endpoint to a viewer', async () => {
    const { world, open } = running();
    const { page, close, go } = await open('viewer');
    await go(`/webhooks/${world['salesEndpointId']}/${world['salesMessageId']}`);
    assert.equal(await page.locator('.timeline > li').count(), 2);
    assert.equal(await page.locator('.timeline pre').count(), 0);
    await page.getByText('Only admins see what the endpoint answered.').waitFor();
    await close();
  });

  test('sends a refused e-mail again, and previews a template in a frame without scripts', async () => {
    const { world, open } = running();
    const { page, close, go } = await open('support');
    await go(`/mail/key:paddle:${world['salesTransactionId']}`);
    await pressButton(page, { label: 'Send again', fields: FIELDS, done: 'The e-mail is queued.' });
    await go('/mail/templates/key?language=fr');
    const frame = page.frameLocator('iframe');
    await frame.locator('html[lang="fr"]').waitFor({ state: 'attached' });
    assert.equal(await page.getByLabel('Name of the recipient').count(), 0);
    await go('/mail/templates/personal?language=fr');
    await page.getByLabel('Name of the recipient').fill('Renée');
    await page.getByLabel('Name of the recipient').blur();
    await frame.getByText('Renée').waitFor();
    await page.locator('pre.json').getByText('Renée').waitFor();
    await close();
  });

  test('checks the mail relay', async () => {
    const { page, close, go } = await running().open('support');
    await go('/mail');
    const done = 'The relay accepts the login.';
    await pressButton(page, {
      label: 'Check relay',
      title: 'Check the mail relay',
      confirm: 'Check',
      done,
    });
    await close();
  });
}
