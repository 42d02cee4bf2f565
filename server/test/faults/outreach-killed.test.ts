import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { eventually } from '../eventually.ts';
import { createExternalHome } from '../external-service.ts';
import { startMailRelay } from '../mail-relay.ts';
import { createHttpClient } from '../http-client.ts';
import { errorsOf, manyRecipients, OUTREACH_PATH, readOutreach } from '../outreach-steps.ts';
import type { ServiceProcess } from '../service-process.ts';
import { execute } from '../test-cluster.ts';

const API_KEY = 'an outreach key for the tests';
const BODY = { template: 'personal', recipients: manyRecipients(80) };

/** Longer than a lease lasts. */
const EXPIRE_LEASES = `update outreach_idempotency_keys set claimed_at = claimed_at - interval '1 minute'`;

const StoredCampaign = Type.Object({
  id: Type.String(),
  version: Type.Integer(),
  state: Type.String(),
  counts: Type.Record(Type.String(), Type.Integer()),
});

const home = await createExternalHome();
after(() => home[Symbol.asyncDispose]());
const SLOW_MS = 150;
const relay = await startMailRelay({ slowMs: SLOW_MS });
after(() => relay.close());

const settings = {
  LATCHKEY_SMTP_URL: relay.url,
  LATCHKEY_MAIL_FROM: 'Example Shop <shop@example.com>',
  LATCHKEY_OUTREACH_API_KEY: API_KEY,
};

const sendRequest = (service: ServiceProcess, idempotencyKey: string) =>
  createHttpClient(service.url).post(OUTREACH_PATH, BODY, {
    'x-api-key': API_KEY,
    'idempotency-key': idempotencyKey,
  });

const recipients = () => relay.mails.map(({ to }) => to[0]);

let service = await home.start(settings);

test('resumes a request after a kill without sending twice, and reports unknown outcomes', async () => {
  const first = sendRequest(service, 'killed');
  first.catch(() => {});
  await eventually(() => relay.mails.length >= 20);
  await service.stop('SIGKILL');
  await assert.rejects(first);
  const before = relay.mails.length;
  await execute(home.settings['DATABASE_URL'] ?? '', EXPIRE_LEASES);
  service = await home.start(settings);
  const answer = readOutreach(await sendRequest(service, 'killed'));
  const errors = errorsOf(answer);
  const unknown = errors.filter((error) => error === 'unknown').length;
  assert.ok(unknown > 0 && unknown <= 25, `${unknown} unknown`);
  assert.deepEqual(new Set(errors), new Set([null, 'unknown']));
  assert.ok(relay.mails.length > before);
  assert.equal(new Set(recipients()).size, recipients().length, 'a message was sent twice');
  // Messages with an unknown outcome may have been sent; all others were sent once.
  assert.ok(recipients().length >= 80 - unknown && recipients().length <= 80);
  const again = await sendRequest(service, 'killed');
  assert.deepEqual(again.body, answer);
});

test('continues a campaign after a kill without mailing twice', async () => {
  const count = 40;
  const { id, client } = await startCampaign(service, count);
  await eventually(() => mailed().length >= 10);
  await service.stop('SIGKILL');
  const before = mailed().length;
  assert.ok(before < count);
  await execute(
    home.settings['DATABASE_URL'] ?? '',
    `update outreach_campaigns set leased_until = leased_until - interval '1 minute'`,
  );
  relay.script = {};
  service = await home.start(settings);
  const read = client(service);
  await eventually(async () => (await read(id)).state === 'sent');
  const { counts } = await read(id);
  const { sent = 0, unknown = 0, ...others } = counts;
  assert.deepEqual(others, {
    total: count,
    waiting: 0,
    failed: 0,
    suppressed: 0,
    canceled: 0,
    duplicates: 0,
    invalid: 0,
  });
  assert.ok(unknown > 0 && unknown <= 25 && sent + unknown === count, JSON.stringify(counts));
  assert.equal(new Set(mailed()).size, mailed().length, 'a message was sent twice');
  // Messages with an unknown outcome may have been sent; all others were sent once.
  assert.ok(mailed().length >= sent && mailed().length > before);
});

/** The recipients of mails of the campaign. */
const mailed = () =>
  recipients().flatMap((address) => (address?.startsWith('reader-') === true ? [address] : []));

/** Creates a campaign and orders to send it, with an API key. */
async function startCampaign({ url }: ServiceProcess, count: number) {
  const args = ['key', 'create', '--name=campaigns', '--scope=admin', '--json'];
  const { api_key: key } = JSON.parse(await home.home.run(args, home.settings));
  const headers = { 'x-api-key': key };
  const path = '/api/v1/admin/outreach/campaigns';
  const http = createHttpClient(url);
  const text = { subject: 'News', preview: '', text: 'New.' };
  const audience = { source: 'list', languages: [], products: [], statuses: [] };
  const draft = { name: 'News', texts: { en: text }, default_language: 'en', audience };
  const { id, version } = Parse(StoredCampaign, (await http.post(path, draft, headers)).body);
  const list = Array.from({ length: count }, (_, index) => `reader-${index}@example.org`).join(
    '\n',
  );
  const order = { expected_version: version, max_recipients: count, list };
  assert.equal((await http.post(`${path}/${id}/send`, order, headers)).status, 200);
  const client = (of: ServiceProcess) => async (campaign: string) =>
    Parse(
      StoredCampaign,
      (await createHttpClient(of.url).get(`${path}/${campaign}`, headers)).body,
    );
  return { id, client };
}

test('reports sent and unsent messages when the service stops, and exits with 0', async () => {
  relay.script = { slowMs: SLOW_MS };
  const before = relay.mails.length;
  const sending = sendRequest(service, 'stopped');
  await eventually(() => relay.mails.length >= before + 10);
  const startedAt = performance.now();
  const [answer, end] = await Promise.all([sending, service.stop('SIGTERM')]);
  assert.deepEqual(end, { code: 0, signal: null });
  assert.ok(performance.now() - startedAt < 10_000);
  assert.equal(answer.status, 200);
  const errors = errorsOf(readOutreach(answer));
  const count = (error: string | null) => errors.filter((each) => each === error).length;
  assert.ok(count(null) >= 5 && count('interrupted') > 20, JSON.stringify(errors));
  assert.equal(count(null) + count('interrupted') + count('unknown'), 80);
});
