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

test('lists one-time codes and passkeys', async () => {
  const { id } = await runJson('create', 'dora@example.com');
  await commands.pool.query(
    `insert into operator_passkeys
       (id, operator_id, credential_id, public_key, sign_count, is_synced, name, created_at)
     select gen_random_uuid(), $1, convert_to(name, 'UTF8'), '', 0, false, name, now()
     from unnest(array['Laptop', 'Key']) as name`,
    [id],
  );
  const listed: Record<string, unknown>[] = await runJson('list');
  const dora = listed.find(({ email }) => email === 'dora@example.com');
  assert.deepEqual([dora?.['totp_enabled'], dora?.['passkeys']], [false, 2]);
  const { stdout } = await run('list');
  assert.match(stdout, /one-time codes +passkeys/iu);
  assert.match(stdout, /^dora@example\.com .* no +2 /mu);
});

test('rejects a taken or unknown address (exit code 1) and an unknown role (exit code 2)', async () => {
  await run('create', 'carl@example.com');
  for (const [args, code, message] of [
    [['create', 'CARL@example.com'], 1, /A reset creates a new link/u],
    [['disable', 'nobody@example.com', '--reason', 'x'], 1, /no such operator/u],
    [['create', 'eve@example.com', '--role', 'owner'], 2, /viewer, support, admin/u],
    [['create', 'no address'], 2, /e-mail address/u],
  ] as const) {
    const result = await run(...args);
    assert.deepEqual([result.code, result.stdout], [code, ''], args.join(' '));
    assert.match(result.stderr, message);
  }
});
