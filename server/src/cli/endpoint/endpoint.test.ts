import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { Webhook } from 'standardwebhooks';

import { openCommandLine } from '../../../test/test-command-line.ts';
import { startWebhookReceiver } from '../../../test/webhook-receiver.ts';

const receiver = await startWebhookReceiver();
after(() => receiver[Symbol.asyncDispose]());
const { run: latchkey, runJson: latchkeyJson } = await openCommandLine();
const run = (...args: string[]) => latchkey('endpoint', ...args);
const runJson = (...args: string[]) => latchkeyJson('endpoint', ...args);

const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

test('an endpoint is registered, tested, told of, rolled, disabled, enabled, replayed and removed', async () => {
  const added = await run('add', receiver.url, '--events', 'license.created', '--description', 'a');
  assert.equal(added.code, 0, added.stderr);
  const [secret = ''] = added.stdout.split('\n');
  assert.match(secret, SECRET);
  assert.match(added.stdout, /^events +license\.created$/m);

  const tested = await runJson('test', receiver.url);
  assert.deepEqual([tested.delivered, tested.status, tested.error], [true, 204, null]);
  const [request] = receiver.received;
  const signed = {
    'webhook-id': String(request?.headers['webhook-id']),
    'webhook-timestamp': String(request?.headers['webhook-timestamp']),
    'webhook-signature': String(request?.headers['webhook-signature']),
  };
  assert.ok(new Webhook(secret).verify(request?.body ?? '', signed));

  const rolled = await runJson('roll', receiver.url, '--overlap', '1h');
  assert.match(rolled.secret, SECRET);
  assert.notEqual(rolled.secret, secret);
  const listed = await run('list');
  assert.match(
    listed.stdout,
    new RegExp(`^${rolled.id}  ${receiver.url} +license.created +active`, 'm'),
  );
  assert.doesNotMatch(listed.stdout, /whsec_/);

  assert.equal((await latchkey('license', 'issue', '--product', 'personal')).code, 0);
  const [logged, ...others] = await runJson('log', '--endpoint', rolled.id);
  assert.deepEqual(others, []);
  assert.deepEqual([logged.type, logged.state, logged.attempts], ['license.created', 'pending', 0]);
  assert.deepEqual(await runJson('log', '--failed'), []);
  assert.deepEqual(await runJson('replay', logged.message_id), { replayed: 1, waiting: [] });
  assert.deepEqual(await runJson('replay', '--failed', '--since', '2020-01-01'), {
    replayed: 0,
    waiting: [],
  });

  const disabled = await runJson('disable', rolled.id, '--reason', 'moving');
  assert.deepEqual([disabled.state, disabled.disabled_reason], ['disabled', 'operator']);
  const waiting = [{ endpoint_id: rolled.id, url: receiver.url, deliveries: 1 }];
  assert.deepEqual(await runJson('replay', logged.message_id), { replayed: 1, waiting });
  assert.equal((await runJson('enable', rolled.id)).state, 'active');
  const removed = await run('remove', rolled.id);
  assert.equal(removed.stdout, `${receiver.url} (${rolled.id}) is removed.\n`);
  assert.deepEqual(await runJson('list'), []);
});

test('a receiver that refuses the test is exit code 1', async () => {
  receiver.answer(503);
  const { id } = await runJson('add', receiver.url);
  const tested = await run('test', id);
  assert.equal(tested.code, 1);
  assert.match(tested.stdout, /did not take it: answered 503/);
  await runJson('remove', id);
});

test('a replay says what waits for an endpoint that is disabled, and how to enable it', async () => {
  const told = await runJson('add', 'https://told.example.com/hook');
  const away = await runJson('add', 'https://away.example.com/hook');
  assert.equal((await latchkey('license', 'issue', '--product', 'personal')).code, 0);
  const [{ message_id: messageId }] = await runJson('log');
  await runJson('disable', away.id);
  const waits = `1 waits: https://away.example.com/hook is disabled (operator). To have them delivered: latchkey endpoint enable ${away.id}\n`;
  const both = await run('replay', messageId);
  assert.equal(both.stdout, `1 to be delivered by the running service.\n${waits}`);
  assert.equal((await run('replay', messageId, '--endpoint', away.id)).stdout, waits);
  for (const { id } of [told, away]) await runJson('remove', id);
});

test('what cannot be done is one sentence', async () => {
  await runJson('add', 'https://one.example.com/hook');
  for (const [args, code, sentence] of [
    [
      ['add', 'ftp://example.com/'],
      1,
      /^latchkey: The URL must begin with https:\/\/ or http:\/\/\.\n$/,
    ],
    [['add', 'https://user:secret@example.com/'], 1, /must not hold a password/],
    [['add', 'https://one.example.com/hook#part'], 1, /This URL is an endpoint already/],
    [
      ['add', 'https://example.com/', '--events', 'license.born'],
      2,
      /Each must be one of license\.created, /,
    ],
    [['enable', 'https://nobody.example.com/'], 1, /There is no such endpoint/],
    [['replay', 'msg_unknown'], 1, /There is nothing to deliver/],
    [['replay'], 2, /Say what: either the id of a message, or --failed and --since\./],
    [['replay', '--failed'], 2, /Say what/],
  ] as const) {
    const result = await run(...args);
    assert.deepEqual([result.code, result.stdout], [code, ''], args.join(' '));
    assert.match(result.stderr, sentence);
  }
});
