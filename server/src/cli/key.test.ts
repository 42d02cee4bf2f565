import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isApiKey } from '#server/lib/api-key.ts';
import { openCommandLine } from '../../test/test-command-line.ts';

const commands = await openCommandLine();
const run = (...args: string[]) => commands.run('key', ...args);
const runJson = (...args: string[]) => commands.runJson('key', ...args);

const DAY_MS = 86_400_000;

test('creates, lists, rolls and revokes a key, and shows it only when it is new', async () => {
  const created = await run(
    'create',
    '--name',
    'sheet',
    '--scope',
    'outreach:send',
    '--days',
    '30',
  );
  assert.equal(created.code, 0, created.stderr);
  const [apiKey = ''] = created.stdout.split('\n');
  assert.ok(isApiKey(apiKey), created.stdout);
  assert.match(created.stdout, /^name +sheet$/mu);
  assert.match(created.stdout, /^scopes +outreach:send$/mu);
  assert.match(created.stdout, /^expires +\d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC$/mu);

  const rolled = await runJson('roll', 'sheet', '--overlap', '90m', '--reason', 'yearly');
  assert.ok(isApiKey(rolled.api_key));
  assert.deepEqual(
    [rolled.name, rolled.scopes, rolled.state],
    ['sheet', ['outreach:send'], 'active'],
  );
  assert.equal(Date.parse(rolled.expires_at) - Date.parse(rolled.created_at), 30 * DAY_MS);
  const overlapMs = Date.parse(rolled.replaces.expires_at) - Date.parse(rolled.created_at);
  assert.equal(overlapMs, 90 * 60_000);

  const listed = await run('list');
  assert.match(listed.stdout, new RegExp(`^${rolled.id}  sheet .* active `, 'mu'));
  assert.match(listed.stdout, new RegExp(`^${rolled.replaces.id}  sheet .* rolled `, 'mu'));
  assert.doesNotMatch(listed.stdout, /lk_/u);

  const revoked = await run('revoke', 'sheet', '--reason', 'it leaked');
  for (const id of [rolled.id, rolled.replaces.id]) assert.ok(revoked.stdout.includes(id));
  const now: Record<string, unknown>[] = await runJson('list');
  assert.deepEqual(
    now.map(({ id, state }) => [id, state]),
    [
      [rolled.id, 'revoked'],
      [rolled.replaces.id, 'revoked'],
    ],
  );
});

test('rejects an unknown key (exit code 1) and an unknown scope (exit code 2)', async () => {
  for (const [args, code, message] of [
    [['roll', 'nobody'], 1, /^latchkey: .*\bAPI key\b.*\n$/u],
    [
      ['create', '--name', 'x', '--scope', 'all'],
      2,
      /outreach:send, metrics:read, subscribers:write, admin:read, admin:support, admin/u,
    ],
  ] as const) {
    const result = await run(...args);
    assert.deepEqual([result.code, result.stdout], [code, ''], args.join(' '));
    assert.match(result.stderr, message);
  }
});
