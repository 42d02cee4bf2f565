import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isApiKey } from '#server/lib/api-key.ts';
import { openCommandLine } from '../../test/test-command-line.ts';

const commands = await openCommandLine();
const run = (...args: string[]) => commands.run('key', ...args);
const runJson = (...args: string[]) => commands.runJson('key', ...args);

const DAY_MS = 86_400_000;

test('a key is made, listed, rolled and revoked; only making and rolling show one', async () => {
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
  assert.equal(revoked.stdout.match(/^sheet \(….{4}, .*\) is revoked\.$/gmu)?.length, 2);
  const now: Record<string, unknown>[] = await runJson('list');
  assert.deepEqual(
    now.map(({ id, state }) => [id, state]),
    [
      [rolled.id, 'revoked'],
      [rolled.replaces.id, 'revoked'],
    ],
  );
});

test('what cannot be done is one sentence', async () => {
  for (const [args, code, sentence] of [
    [['roll', 'nobody'], 1, /^latchkey: There is no such API key, or it is revoked\.\n$/u],
    [
      ['create', '--name', 'x', '--scope', 'all'],
      2,
      /It must be one of outreach:send, metrics:read, subscribers:write, admin\./u,
    ],
  ] as const) {
    const result = await run(...args);
    assert.deepEqual([result.code, result.stdout], [code, ''], args.join(' '));
    assert.match(result.stderr, sentence);
  }
});
