/** Writing, checking and sending a mail through a real SMTP relay, by keyboard alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { CampaignAudience } from '@latchkey/contract';
import type { Page } from 'playwright-core';

import { createDraft } from '../../../server/src/features/outreach/campaigns/edit-campaign.ts';
import { createCampaignQueue } from '../../../server/src/features/outreach/campaigns/send-campaigns.ts';
import { QueueRunner } from '../../../server/src/jobs/work-queue.ts';

import { eventually } from '../../../server/test/eventually.ts';
import { readParts } from '../../../server/test/mail-relay.ts';
import { choose, press, pressButton, type } from '../keyboard.ts';
import type { Console } from '../open-console.ts';
import type { Window } from '../windows.ts';

const HOSTILE = '<img src=x onerror=alert(1)> \u202Egnp.exe \u{1F469}\u200D\u{1F680}';

/** For a test that changes the clock of the page. */
const CLOCK = { width: 1440, own: true };

/** How often an open page reads something again. */
const POLL_MS = 10_000;

const BUYERS: CampaignAudience = { source: 'customers', languages: [], products: [], statuses: [] };

const TEXTS = { en: { subject: 'Hi', preview: '', text: 'Hello' } };

/** Returns the number of people on the button that sends. */
const readCount = (text: string | null): number => Number(text?.replaceAll(/\D/g, ''));

/** The mail as the frame shows it. */
const shownMail = (page: Page) => page.frameLocator('iframe[title="The mail"]').locator('body');

/** Presses the button that sends, whose label has the number of people. */
async function pressSend(page: Page): Promise<void> {
  const label = await page.getByRole('button', { name: /^Send to/ }).textContent();
  await press(page, label ?? '');
}

/** Opens a draft, and sends it after another operator has changed it: that is refused. Returns its id. */
async function openRefused(
  { service }: Console,
  { page, go }: Pick<Window, 'go' | 'page'>,
): Promise<string> {
  const content = {
    name: 'Twice',
    texts: TEXTS,
    defaultLanguage: 'en',
    audience: BUYERS,
  } as const;
  const { id } = await createDraft(service.context, content, 'operator:anna@example.com');
  await go(`/outreach/${id}`);
  await press(page, 'Review and send');
  await service.pool.query(`update outreach_campaigns set name = 'Theirs' where id = $1`, [id]);
  await pressSend(page);
  await page.getByText('changed this draft').waitFor();
  return id;
}

async function write(page: Page, subject: string, text: string): Promise<void> {
  await type(page, 'Subject', subject);
  await type(page, 'Text', text);
}

export function testOutreach(running: () => Console): void {
  test('writes a mail with a live preview, checks the recipients, and sends it', async () => {
    const { relay, service } = running();
    const { page, close, go } = await running().open('admin', CLOCK);
    await page.clock.install();
    await go('/outreach/new');
    await press(page, 'New version');
    await shownMail(page).getByText('Hello Ada,').waitFor();
    await write(page, 'Hi there', `Dear {{name|friend}}\n\n${HOSTILE}`);
    await shownMail(page).getByText('Dear Ada').waitFor();
    await shownMail(page).getByText('<img src=x onerror=alert(1)>').waitFor();
    await choose(page, 'Newsletter subscribers', 'Pasted addresses');
    await type(page, 'Addresses', `ada@example.com, ${HOSTILE}\nADA@example.com\nnonsense`);
    await press(page, 'Check who gets it');
    await page.getByText('They get it: 1').waitFor();
    await page.getByText('They do not get it: 2').waitFor();
    await press(page, 'Save and continue');
    await press(page, 'Review and send');
    const before = relay.mails.length;
    await press(page, 'Send to 1 person');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    const queue = { ...createCampaignQueue(service.context), pollIntervalMs: 10 };
    const runner = new QueueRunner(queue, service.context);
    runner.start();
    await eventually(() => relay.mails.length === before + 1);
    const sent = page.locator('h1').getByText('Sent');
    while (!(await sent.isVisible())) await page.clock.runFor(POLL_MS);
    await runner.stop();
    const [mail] = relay.mails.slice(before);
    assert.deepEqual(mail?.to, ['ada@example.com']);
    assert.match(mail === undefined ? '' : readParts(mail), /&lt;img src=x onerror=alert\(1\)&gt;/);
    await press(page, 'Recipients');
    await page.getByRole('cell', { name: 'ada@example.com' }).waitFor();
    await close();
  });

  test('keeps what was not saved in the browser', async () => {
    const { page, close, go } = await running().open('admin');
    await go('/outreach/new');
    await write(page, 'Half a mail', 'To be continued');
    await page.getByText('not saved').waitFor();
    await page.reload();
    await page.getByText('This is what you wrote before').waitFor();
    assert.equal(await page.getByLabel('Subject', { exact: true }).inputValue(), 'Half a mail');
    await press(page, 'Discard it');
    assert.equal(await page.getByLabel('Subject', { exact: true }).inputValue(), '');
    await close();
  });

  test('shows a conflict without losing the text', async () => {
    const { service, world } = running();
    const { page, close, go } = await running().open('admin');
    await go(`/outreach/${world['draftId']}`);
    await type(page, 'Subject', 'My subject');
    await service.pool.query(`update outreach_campaigns set name = 'Theirs' where id = $1`, [
      world['draftId'],
    ]);
    await press(page, 'Save');
    await page.getByText('changed this draft').waitFor();
    await press(page, 'Keep mine');
    await press(page, 'Save');
    await page.getByText('not saved').waitFor({ state: 'detached' });
    assert.equal(await page.getByLabel('Subject', { exact: true }).inputValue(), 'My subject');
    await close(/status of 409/);
  });

  test('sends neither another text nor to more people than the operator saw', async () => {
    const { service } = running();
    const { page, close, go } = await running().open('admin');
    await openRefused(running(), { page, go });
    await press(page, 'Use the other version');
    await press(page, 'Review and send');
    const send = page.getByRole('button', { name: /^Send to/ });
    const before = readCount(await send.textContent());
    await service.issue({ customerEmail: 'one-more@example.com' });
    await pressSend(page);
    await page.getByText('More people would get it by now').waitFor();
    assert.equal(readCount(await send.textContent()), before + 1);
    await pressSend(page);
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await close(/status of 409/);
  });

  test('keeps the own text after a refused send, and sends it', async () => {
    const { service } = running();
    const { page, close, go } = await running().open('admin');
    const id = await openRefused(running(), { page, go });
    await press(page, 'Keep mine');
    await page.getByText('not saved').waitFor();
    await press(page, 'Review and send');
    await pressSend(page);
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    const sql = `select state, name from outreach_campaigns where id = $1`;
    assert.deepEqual((await service.pool.query(sql, [id])).rows, [
      { state: 'sending', name: 'Twice' },
    ]);
    await close(/status of 409/);
  });

  test('names the line of an unknown placeholder', async () => {
    const { page, close, go } = await running().open('admin');
    await go('/outreach/new');
    await write(page, 'Hi', 'One\n{{nmae}}');
    await page.getByText('Line 2: Unknown placeholder {{nmae}}.').waitFor();
    await press(page, 'The new version');
    assert.match(await page.getByLabel('Text', { exact: true }).inputValue(), /\{\{version\}\}/);
    await close();
  });

  test('resumes, pauses and cancels', async () => {
    const { service, world } = running();
    const { page, close, go, problems } = await running().open('admin');
    const readState = async (): Promise<unknown> => {
      const sql = 'select state from outreach_campaigns where id = $1';
      const { rows } = await service.pool.query(sql, [world['sendingId']]);
      return rows[0]?.state;
    };
    await go(`/outreach/${world['sendingId']}`);
    await page.getByText('It was paused after an hour').waitFor();
    await pressButton(page, { label: 'Resume', done: 'Sending goes on.' });
    assert.equal(await readState(), 'sending');
    await pressButton(page, { label: 'Pause', done: 'Sending is paused.' });
    assert.equal(await readState(), 'paused');
    await pressButton(page, {
      label: 'Cancel sending',
      confirm: 'Cancel it for good',
      fields: { Reason: 'the offer ended' },
      done: 'The campaign was canceled.',
    });
    await page.locator('h1').getByText('Canceled').waitFor();
    assert.equal(await readState(), 'canceled');
    assert.deepEqual(problems, []);
    await close();
  });

  test('copies a sent mail, sends a test of it and deletes the copy', async () => {
    const { relay, service, world } = running();
    const { page, close, go } = await running().open('admin');
    await go(`/outreach/${world['sentId']}`);
    await pressButton(page, {
      label: 'Write one like it',
      title: 'Copy to a new draft',
      confirm: 'Copy',
      done: 'Copied to a new draft.',
    });
    await page.getByRole('button', { name: 'Send a test to me' }).waitFor();
    const id = page.url().slice(-36);
    assert.notEqual(id, world['sentId']);
    const before = relay.mails.length;
    await pressButton(page, {
      label: 'Send a test to me',
      confirm: 'Send the test',
      done: 'The test mail was sent to you.',
    });
    const [mail, ...more] = relay.mails.slice(before);
    assert.match(mail?.to.join() ?? '', /^admin-[\da-f-]{36}@example\.com$/);
    assert.deepEqual(more, []);
    await pressButton(page, {
      label: 'Delete',
      title: 'Delete this draft',
      done: 'The draft was deleted.',
    });
    await page.waitForURL('**/console/outreach');
    const { rows } = await service.pool.query('select from outreach_campaigns where id = $1', [id]);
    assert.equal(rows.length, 0);
    await close();
  });
}
