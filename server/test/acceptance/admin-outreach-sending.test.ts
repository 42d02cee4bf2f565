import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { resumeCampaign } from '#server/features/outreach/campaigns/control-campaign.ts';
import { startCampaign } from '#server/features/outreach/campaigns/start-campaign.ts';
import { createOutreachCleanup } from '#server/features/outreach/outreach-cleanup.ts';
import type { MailTransport } from '#server/mail/mail-transport.ts';

import {
  bodyOf,
  CAMPAIGNS,
  EN,
  listOf,
  openCampaigns,
  sendDueCampaigns,
} from '../campaign-steps.ts';
import { eventually } from '../eventually.ts';
import { readHeader, readParts } from '../mail-relay.ts';
import { DAY_MS, SECOND_MS, TEST_START } from '../test-clock.ts';
import { problem, readBody, readItems } from './bodies.ts';

const {
  admin,
  auditOf,
  change,
  countsOf,
  createDraft,
  mails,
  relay,
  send,
  service,
  show,
  suppress,
} = await openCampaigns();
const { clock, context, pool } = service;

const UNKNOWN = '0190a6b2-7c1e-7d32-9c41-000000000000';

describe('sending', () => {
  test('mails every recipient once, in its language, and reports', async () => {
    await suppress('carl@example.com');
    const list =
      'ada@example.com,Ada,de\nbob@example.com,Bob\ncarl@example.com\nbob@example.com\nx';
    const id = await send({ list, max_recipients: 2 });
    await sendDueCampaigns(context);
    const sent = mails();
    assert.deepEqual(sent.flatMap(({ to }) => to).toSorted(), [
      'ada@example.com',
      'bob@example.com',
    ]);
    const bob = sent.find(({ to }) => to.includes('bob@example.com'));
    assert.ok(bob);
    assert.equal(readHeader(bob, 'List-Unsubscribe-Post'), 'List-Unsubscribe=One-Click');
    assert.match(readParts(bob), /Hello Bob\./);
    assert.match(readParts(bob), /\/u\/[\w-]+/);
    const body = await show(id);
    assert.deepEqual([body['state'], body['ended_at']], ['sent', clock.now().toISOString()]);
    assert.deepEqual(body['counts'], {
      total: 3,
      waiting: 0,
      canceled: 0,
      sent: 2,
      failed: 0,
      suppressed: 1,
      unknown: 0,
      duplicates: 1,
      invalid: 1,
    });
    clock.advance(SECOND_MS);
    await suppress('ada@example.com');
    const report = bodyOf(await admin.get(`${CAMPAIGNS}/${id}/report`));
    assert.deepEqual(report, {
      unsubscribed: 1,
      by_language: [
        { language: 'en', sent: 1 },
        { language: 'fr', sent: 0 },
        { language: 'de', sent: 1 },
      ],
      reasons: [],
      kept_until: new Date(TEST_START.getTime() + 30 * DAY_MS).toISOString(),
    });
    assert.deepEqual(await auditOf(id), ['outreach.create_draft', 'outreach.send']);
  });

  test('lists messages by result and address, and exports them', async () => {
    relay.script = {
      forRecipient: (address) =>
        address.startsWith('bad') ? { recipient: { code: 550, words: 'unknown user' } } : undefined,
    };
    const id = await send({ list: 'ada@example.com\nbad@example.com' });
    await sendDueCampaigns(context);
    const list = async (query: string) => {
      const { items } = bodyOf(await admin.get(`${CAMPAIGNS}/${id}/messages${query}`));
      assert.ok(Array.isArray(items));
      return items.map(readBody).map(({ email, result, error }) => [email, result, error]);
    };
    const bad = ['bad@example.com', 'failed', 'smtp_550: unknown user'];
    assert.deepEqual(await list(''), [['ada@example.com', 'sent', null], bad]);
    assert.deepEqual(await list('?result=failed'), [bad]);
    assert.deepEqual(await list('?search=BAD%40example.com'), [bad]);
    const { reasons } = bodyOf(await admin.get(`${CAMPAIGNS}/${id}/report`));
    assert.deepEqual(reasons, [{ state: 'failed', error: 'smtp_550', count: 1 }]);
    const { text } = await admin.get(`${CAMPAIGNS}/${id}/messages/export?result=failed`);
    assert.match(
      text,
      /^position,email,name,.*\r\n1,bad@example\.com,,en,failed,smtp_550: unknown user,/,
    );
    assert.ok((await auditOf(id)).includes('outreach.export'));
    assert.equal((await admin.get(`${CAMPAIGNS}/${UNKNOWN}/messages/export`)).status, 404);
    assert.deepEqual(await auditOf(UNKNOWN), []);
  });

  test('is refused without recipients, with faults, for a changed draft and a grown list', async () => {
    const { id, version } = await createDraft();
    const order = { expected_version: version, max_recipients: 1, list: '' };
    const refused = async (more: object) =>
      admin.post(`${CAMPAIGNS}/${id}/send`, { ...order, ...more });
    const nobody = await refused({});
    assert.deepEqual(
      nobody.body,
      problem('not_possible', { detail: 'The mail has no recipient.' }),
    );
    assert.equal((await refused({ expected_version: version + 1 })).status, 409);
    const grown = await refused({ list: 'a@example.com\nb@example.com' });
    assert.equal(readBody(readBody(grown.body)['current'])['recipients'], 2);
    const faulty = await createDraft({ texts: { en: { ...EN, text: '{{x}}' } } });
    const answer = await admin.post(`${CAMPAIGNS}/${faulty.id}/send`, {
      ...order,
      expected_version: faulty.version,
      list: 'a@example.com',
    });
    assert.match(answer.text, /text is not ready \(en, text, line 1\)/);
    assert.equal(await service.count('outreach_messages'), 0);
  });

  test('happens once when two operators press the button', async () => {
    const { id, version } = await createDraft();
    const order = { expected_version: version, max_recipients: 5, list: listOf(5) };
    const answers = await Promise.all(
      [1, 2, 3].map(() => admin.post(`${CAMPAIGNS}/${id}/send`, order)),
    );
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 409, 409],
    );
    await sendDueCampaigns(context);
    assert.equal(mails().length, 5);
  });

  test('starts with one connection', async () => {
    const { id, version } = await createDraft();
    let connections = 0;
    const count = (): void => void (connections += 1);
    const request = { version, maxRecipients: 5, list: listOf(5), actor: 'tester' };
    pool.on('acquire', count);
    await startCampaign(context, id, request);
    pool.off('acquire', count);
    assert.equal(connections, 1);
  });

  test('is refused without a relay', async () => {
    const { id, version } = await createDraft();
    const order = { version, maxRecipients: 1, list: 'a@example.com', actor: 'tester' };
    await assert.rejects(startCampaign({ ...context, outreachMail: null }, id, order), {
      code: 'not_possible',
    });
  });

  test('sends again later what the relay defers', async () => {
    const id = await send({ list: listOf(20) });
    relay.script = { sender: { code: 451, words: 'try later' } };
    assert.equal(await sendDueCampaigns(context), 1);
    assert.equal(mails().length, 0);
    relay.script = {};
    clock.advance(15 * 60 * SECOND_MS);
    await sendDueCampaigns(context);
    assert.equal(mails().length, 20);
    assert.equal((await countsOf(id)).sent, 20);
  });

  test('skips an address that is suppressed or erased in the meantime', async () => {
    const id = await send({ list: 'ada@example.com\nbob@example.com' });
    await suppress('ada@example.com');
    await pool.query(`delete from outreach_recipients where email = 'bob@example.com'`);
    await sendDueCampaigns(context);
    assert.deepEqual([mails().length, (await countsOf(id)).suppressed], [0, 2]);
  });
});

describe('pausing, resuming and canceling', () => {
  test('stop after the messages in progress, and continue', async () => {
    const held = Promise.withResolvers<void>();
    relay.script = { held: held.promise };
    const id = await send({ list: listOf(60) });
    const sending = sendDueCampaigns(context);
    await eventually(
      async () => (await service.count(`outreach_messages where state = 'sending'`)) > 0,
    );
    assert.equal(bodyOf(await change(id, 'pause'))['state'], 'paused');
    held.resolve();
    await sending;
    assert.deepEqual([mails().length, (await countsOf(id)).waiting], [50, 10]);
    assert.equal((await change(id, 'pause')).status, 409);
    assert.equal(bodyOf(await change(id, 'resume'))['state'], 'sending');
    await sendDueCampaigns(context);
    assert.deepEqual([mails().length, (await show(id))['state']], [60, 'sent']);
    assert.equal((await change(id, 'cancel', { reason: 'too late' })).status, 409);
  });

  test('canceled messages are never sent', async () => {
    const id = await send({ list: listOf(3) });
    const body = bodyOf(await change(id, 'cancel', { reason: 'wrong text' }));
    assert.equal(body['state'], 'canceled');
    assert.deepEqual(await countsOf(id), {
      total: 3,
      waiting: 0,
      sent: 0,
      failed: 0,
      suppressed: 0,
      unknown: 0,
    });
    assert.deepEqual((await auditOf(id)).at(-1), 'outreach.cancel');
    const { reasons } = bodyOf(await admin.get(`${CAMPAIGNS}/${id}/report`));
    assert.deepEqual(reasons, []);
    assert.equal(readBody((await show(id))['counts'])['canceled'], 3);
    for (const [result, count] of [
      ['canceled', 3],
      ['failed', 0],
    ] as const) {
      const page = await admin.get(`${CAMPAIGNS}/${id}/messages?result=${result}`);
      const items = readItems(page.body);
      assert.equal(items.length, count);
      assert.ok(items.every((each) => each['result'] === 'canceled' && each['ended_at'] !== null));
    }
  });
});

describe('a relay that fails', () => {
  /** A relay that refuses every connection. */
  const refusing: MailTransport = {
    send: () => Promise.resolve({ outcome: 'temporary', reason: 'connection', reply: null }),
    close: () => {},
  };

  /** Tries a campaign at each time that it is due, and returns these times in seconds. */
  async function tryUntilPaused(id: string): Promise<number[]> {
    const times: number[] = [];
    for (let due: unknown = TEST_START.toISOString(); typeof due === 'string';) {
      clock.set(new Date(due));
      assert.equal(await sendDueCampaigns({ ...context, outreachMail: refusing }), 1);
      times.push((clock.now().getTime() - TEST_START.getTime()) / SECOND_MS);
      ({ next_attempt_at: due } = await show(id));
    }
    return times;
  }

  test('is tried less and less often, and pauses the campaign after an hour, without a loss', async () => {
    const id = await send({ list: listOf(60) });
    const times = await tryUntilPaused(id);
    assert.deepEqual(times, [0, 30, 60, 120, 240, 480, 960, 1860, 2760, 3660]);
    const paused = await show(id);
    assert.deepEqual(
      [paused['state'], paused['problem'], paused['problem_since']],
      ['paused', 'connection', TEST_START.toISOString()],
    );
    const none = { sent: 0, failed: 0, suppressed: 0, unknown: 0 };
    assert.deepEqual(await countsOf(id), { ...none, total: 60, waiting: 60 });
    // The proof of the session is older than 10 minutes.
    const resumed = await resumeCampaign(context, id, { actor: 'tester', reason: null });
    assert.deepEqual([resumed.state, resumed.problem], ['sending', null]);
    await sendDueCampaigns(context);
    assert.equal((await show(id))['state'], 'sent');
    assert.equal(new Set(mails().flatMap(({ to }) => to)).size, 60);
  });

  test('for one address only does not stop the others', async () => {
    const id = await send({ list: listOf(60) });
    const { outreachMail } = context;
    assert.ok(outreachMail !== null);
    const choosing: MailTransport = {
      ...outreachMail,
      send: (message, signal) =>
        (message.to.address === 'person-0@example.org' ? refusing : outreachMail).send(
          message,
          signal,
        ),
    };
    await sendDueCampaigns({ ...context, outreachMail: choosing });
    assert.equal(new Set(mails().flatMap(({ to }) => to)).size, 59);
    const { state, problem: reported } = await show(id);
    assert.deepEqual([state, reported, (await countsOf(id)).waiting], ['sending', 'connection', 1]);
  });
});

describe('the cleanup', () => {
  test('removes recipients after 30 days, keeps the numbers, and cancels what did not end', async () => {
    const id = await send({ list: listOf(2) });
    await sendDueCampaigns(context);
    const paused = await send({ list: listOf(2) });
    clock.advance(31 * DAY_MS);
    await createOutreachCleanup(context).run(AbortSignal.timeout(5_000));
    clock.set(TEST_START);
    assert.deepEqual(
      [await service.count('outreach_recipients'), await service.count('outreach_messages')],
      [0, 0],
    );
    assert.equal((await countsOf(id)).sent, 2);
    assert.equal((await show(paused))['state'], 'canceled');
  });
});
