/** The examples of docs/operations/outgoing-webhooks.md equal the sent messages, and its code verifies them. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { addEndpoint } from '#server/features/outgoing-webhooks/add-endpoint.ts';
import { recordTimeBasedEvents } from '#server/features/outgoing-webhooks/record-time-based-events.ts';
import { EVENT_TYPES } from '#server/features/outgoing-webhooks/rules/payload.ts';
import { extendLicense, suspendLicense } from '#server/features/licenses/change-license.ts';
import { rekeyLicense } from '#server/features/licenses/rekey-license.ts';

import { startTestService } from '../server/test/harness.ts';
import { activate, anyMachine, deactivate, startTrial } from '../server/test/license-steps.ts';
import { startWebhookReceiver } from '../server/test/webhook-receiver.ts';
import { deliverDue } from '../server/test/webhook-steps.ts';
import { repository } from './lib/steps.ts';

const document = readFileSync(join(repository, 'docs/operations/outgoing-webhooks.md'), 'utf8');

const service = await startTestService();
const receiver = await startWebhookReceiver();
const directory = mkdtempSync(join(tmpdir(), 'latchkey-webhooks-'));
after(async () => {
  rmSync(directory, { recursive: true });
  await receiver[Symbol.asyncDispose]();
});

function blocksOf(language: string): string[] {
  const blocks = document.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'));
  return [...blocks].map(([, text = '']) => text);
}

/** Triggers and delivers an event of every type; returns the signing secret. */
async function deliverEveryType(): Promise<string> {
  const { context, clock } = service;
  clock.set(new Date());
  const change = { actor: 'test', reason: 'a test' };
  const order = { url: receiver.url, eventTypes: [], description: null };
  const { secret } = await addEndpoint(context, order, change);
  await recordTimeBasedEvents(context);
  const customerEmail = 'ann@example.com';
  const { license, licenseKey } = await service.issue({ productId: 'yearly', customerEmail });
  const machine = anyMachine();
  const { activation_id } = await activate(service, licenseKey, machine);
  await deactivate(service, licenseKey, activation_id, machine.machine_id);
  await startTrial(service, anyMachine());
  await extendLicense(context, { ...change, keyOrId: license.id }, { days: 1 });
  const rekey = { ...change, keyOrId: license.id, keepMachines: true };
  await rekeyLicense(context, rekey, async () => {});
  await suspendLicense(context, { ...change, keyOrId: license.id });
  const soon = new Date(clock.now().getTime() + 1_000);
  await service.issue({ productId: 'yearly', customerEmail, expiresAt: soon });
  clock.advance(60_000);
  await recordTimeBasedEvents(context);
  await deliverDue(context, 100);
  return secret;
}

test('documents an example with the sent fields for each type, and code that verifies them', async () => {
  const file = join(directory, 'verify.mjs');
  writeFileSync(file, blocksOf('js').join('\n'));
  const { verify } = await import(pathToFileURL(file).href);
  const examples = blocksOf('json').map((text) => JSON.parse(text));
  assert.deepEqual(
    examples.map(({ type }) => type),
    [...EVENT_TYPES],
  );

  const secret = await deliverEveryType();
  const sent = receiver.received.map(({ headers, body }) => verify(secret, headers, body));
  for (const example of examples) {
    const real = sent.find(({ type }) => type === example.type);
    assert.ok(real !== undefined, example.type);
    assert.deepEqual(Object.keys(example), Object.keys(real));
    assert.deepEqual(Object.keys(example.data), Object.keys(real.data), example.type);
    for (const name of ['product', 'tier', 'trial', 'status', 'previous_status']) {
      assert.equal(example.data[name], real.data[name], `${example.type}: ${name}`);
    }
  }

  const [{ headers, body } = { headers: {}, body: '' }] = receiver.received;
  assert.throws(() => verify(`whsec_${'A'.repeat(44)}`, headers, body), /not signed/);
  assert.throws(() => verify(secret, headers, `${body} `), /not signed/);
  const old = { ...headers, 'webhook-timestamp': '1614265330' };
  assert.throws(() => verify(secret, old, body), /too old or too new/);
});
