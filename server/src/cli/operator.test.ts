import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openCommandLine } from '../../test/test-command-line.ts';

const commands = await openCommandLine();
const run = (...args: string[]) => commands.run('operator', ...args);
const runJson = (...args: string[]) => commands.runJson('operator', ...args);

const LINK = /^http:\/\/[\w.]+:\d+\/console\/welcome#(?<token>[\w-]{43})$/u;

async function listStates(): Promise<string[][]> {
  const listed: Record<string, string>[] = await runJson('list');
  return listed.map(({ email = '', role = '', state = '' }) => [email, role, state]);
}

test('creates, lists, disables, enables and resets an operator', async () => {
  const created = await runJson('create', 'Anna@example.com');
  const { token = '' } = LINK.exec(created.url)?.groups ?? {};
  assert.equal(token.length, 43);
  await runJson('create', 'ben@example.com', '--role', 'support', '--name', 'Ben');
  assert.deepEqual(await listStates(), [
    ['Anna@example.com', 'admin', 'invited'],
    ['ben@example.com', 'support', 'invited'],
  ]);

  await runJson('role', 'ben@example.com', '--role', 'viewer');
  await runJson('disable', 'BEN@example.com', '--reason', 'left');
  assert.deepEqual((await listStates())[1], ['ben@example.com', 'viewer', 'disabled']);
  const refused = await run('reset', 'ben@example.com');
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  await runJson('enable', 'ben@example.com');
  const reset = await runJson('reset', 'ben@example.com', '--reason', 'lost phone');
  assert.match(reset.url, LINK);

  const { rows } = await commands.pool.query<{ dump: string }>(
    `select string_agg(t::text, '') as dump from operator_sign_in_links t`,
  );
  assert.equal(rows[0]?.dump.includes(token), false);
  const audited = await commands.pool.query<{ action: string }>(
    `select action from audit_log where subject_id = $1 order by occurred_at`,
    [reset.id],
  );
  assert.deepEqual(
    audited.rows.map(({ action }) => action),
    ['create', 'role', 'disable', 'enable', 'reset'].map((verb) => `operator.${verb}`),
  );
});

test('rejects a taken or unknown address (exit code 1) and an unknown role (exit code 2)', async () => {
  await run('create', 'carl@example.com');
  for (const [args, code, message] of [
    [['create', 'CARL@example.com'], 1, /latchkey operator reset/u],
    [['disable', 'nobody@example.com', '--reason', 'x'], 1, /no operator with this address/u],
    [['create', 'eve@example.com', '--role', 'owner'], 2, /viewer, support, admin/u],
    [['create', 'no address'], 2, /e-mail address/u],
  ] as const) {
    const result = await run(...args);
    assert.deepEqual([result.code, result.stdout], [code, ''], args.join(' '));
    assert.match(result.stderr, message);
  }
});
