import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { Webhook } from 'standardwebhooks';

import { openCommandLine } from '../../../test/test-command-line.ts';
import { ALLOW_LOCAL_RECEIVERS, startWebhookReceiver } from '../../../test/webhook-receiver.ts';

const receiver = await startWebhookReceiver();
after(() => receiver[Symbol.asyncDispose]());
const { pool, run: latchkey, runJson: latchkeyJson } = await openCommandLine(ALLOW_LOCAL_RECEIVERS);
const run = (...args: string[]) => latchkey('endpoint', ...args);
const runJson = (...args: string[]) => latchkeyJson('endpoint', ...args);

const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

test('adds, tests, rolls, disables, enables, replays and removes an endpoint', async () => {
  const added = await run('add', receiver.url, '--events', 'license.created', '--description', 'a');
  assert.equal(added.code, 0, added.stderr);
  const [secret = ''] = added.stdout.split('\n');
  assert.match(secret, SECRET);
  assert.match(added.stdout, /^events +license\.created$/m);

  const tested = await runJson('test', receiver.url);
  assert.deepEqual([tested.delivered, tested.status, tested.error], [true, 204, null]);
  const { rows } = await pool.query(
    `select subject_id, actor like 'cli:%' as by_command from audit_log where action = 'endpoint.test'`,
  );
  assert.deepEqual(rows, [{ subject_id: tested.endpoint_id, by_command: true }]);
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
  const removed = await runJson('remove', rolled.id);
  assert.deepEqual([removed.id, removed.url], [rolled.id, receiver.url]);
  assert.deepEqual(await runJson('list'), []);
});

test('edits the events and the description of an endpoint, and nothing else', async () => {
  const { id, url } = await runJson('add', `${receiver.url}/edited`, '--description', 'a');
  const types = ['--events', 'license.created,license.expired'];
  const edited = await runJson('edit', id, ...types, '--reason', 'less noise');
  assert.deepEqual(
    [edited.url, edited.events, edited.description],
    [url, ['license.created', 'license.expired'], 'a'],
  );
  const shown = await run('edit', url, '--events', 'all', '--description', '');
  assert.match(shown.stdout, /^events +all$/mu);
  assert.deepEqual(
    (await runJson('list')).map((each: Record<string, unknown>) => [
      each['events'],
      each['description'],
    ]),
    [[null, null]],
  );
  const { rows } = await pool.query(
    `select reason, details ->> 'events' as events from audit_log where action = 'endpoint.edit' order by occurred_at`,
  );
  assert.deepEqual(rows, [
    { reason: 'less noise', events: 'license.created license.expired' },
    { reason: null, events: 'all' },
  ]);
  assert.equal((await run('edit', id)).code, 2, 'nothing to change');
  assert.equal((await run('edit', id, '--events', 'license.sold')).code, 2);
  assert.equal((await run('edit', 'https://unknown.example.com/', '--events', 'all')).code, 1);
  await runJson('remove', id);
});

test('exits with 1 if the receiver rejects the test message', async () => {
  receiver.answer(503);
  const { id } = await runJson('add', receiver.url);
  const tested = await run('test', id);
  assert.equal(tested.code, 1);
  assert.match(tested.stdout, /\b503\b/);
  await runJson('remove', id);
});

test('reports deliveries that wait for a disabled endpoint', async () => {
  const active = await runJson('add', 'https://active.example.com/hook');
  const disabled = await runJson('add', 'https://disabled.example.com/hook');
  assert.equal((await latchkey('license', 'issue', '--product', 'personal')).code, 0);
  const [{ message_id: messageId }] = await runJson('log');
  await runJson('disable', disabled.id);
  const waiting = [
    { endpoint_id: disabled.id, url: 'https://disabled.example.com/hook', deliveries: 1 },
  ];
  assert.deepEqual(await runJson('replay', messageId), { replayed: 2, waiting });
  const { stdout } = await run('replay', messageId, '--endpoint', disabled.id);
  assert.match(stdout, new RegExp(`latchkey endpoint enable ${disabled.id}`));
  for (const { id } of [active, disabled]) await runJson('remove', id);
});

test('rejects invalid URLs, unknown subjects (exit code 1) and invalid arguments (exit code 2)', async () => {
  await runJson('add', 'https://one.example.com/hook');
  for (const [args, code, message] of [
    [['add', 'ftp://example.com/'], 1, /^latchkey: .*https:\/\/.*\n$/],
    [['add', 'https://user:secret@example.com/'], 1, /password/],
    [['add', 'https://one.example.com/hook#part'], 1, /already/],
    [['add', 'https://example.com/', '--events', 'license.born'], 2, /license\.created, /],
    [['enable', 'https://unknown.example.com/'], 1, /endpoint/],
    [['replay', 'msg_unknown'], 1, /deliver/],
    [['replay'], 2, /--failed together with --since/],
    [['replay', '--failed'], 2, /--failed together with --since/],
  ] as const) {
    const result = await run(...args);
    assert.deepEqual([result.code, result.stdout], [code, ''], args.join(' '));
    assert.match(result.stderr, message);
  }
});
