import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createPool } from '#server/db/pool.ts';
import { listAuditEntries } from '#server/features/audit/queries.ts';
import { hashApiKey } from '#server/lib/api-key.ts';
import { createLog } from '#server/log.ts';

import {
  anyUnknownApiKey,
  createKey,
  MISTYPED_API_KEY,
  revokeKeys,
  rollKey,
} from '../../../test/api-key-steps.ts';
import { eventually } from '../../../test/eventually.ts';
import { startTestService } from '../../../test/harness.ts';
import { DAY_MS, fromStart, HOUR_MS, SECOND_MS } from '../../../test/test-clock.ts';
import { authenticateApiKey } from './authenticate.ts';
import { viewApiKey } from './list-api-keys.ts';
import { findApiKey, type ApiKeyRecord } from './queries.ts';

const OUTREACH_KEY = 'schlüssel für die tabelle';
const METRICS_TOKEN = 'a-token-for-the-metrics';

const service = await startTestService({
  outreachApiKey: OUTREACH_KEY,
  metricsToken: METRICS_TOKEN,
});
const { context, clock, pool } = service;

async function reread({ id }: Pick<ApiKeyRecord, 'id'>): Promise<ApiKeyRecord> {
  const key = await findApiKey(pool, id);
  assert.ok(key);
  return key;
}

async function stateOf({ id }: Pick<ApiKeyRecord, 'id'>): Promise<string | undefined> {
  return viewApiKey(await reread({ id }), clock.now()).state;
}

/** Returns a context whose database is unreachable. */
function withoutDatabase() {
  const log = createLog({ level: 'silent' });
  return {
    ...context,
    pool: createPool({ url: 'postgres://127.0.0.1:1/x' }, { maxConnections: 1, log }),
  };
}

test('a row contains the digest of a key and its last four symbols, and never the key', async () => {
  const until = new Date(fromStart(DAY_MS));
  const { apiKey, key } = await createKey(service, { scopes: ['admin', 'admin'], term: { until } });
  assert.deepEqual(key.expiresAt, until);
  const next = await rollKey(service, key.id, HOUR_MS);
  assert.deepEqual(await reread(key), {
    ...key,
    keyHash: hashApiKey(apiKey),
    keyHint: apiKey.slice(-4),
    scopes: ['admin'],
    expiresAt: new Date(fromStart(HOUR_MS)),
    replacedBy: next.key.id,
  });
  await service.post('/api/v1/outreach/send', {}, { 'x-api-key': apiKey });
  await service.get('/metrics', { authorization: `Bearer ${apiKey}` });

  const { rows } = await pool.query(
    'select to_jsonb(api_keys)::text as row from api_keys union all select to_jsonb(audit_log)::text from audit_log',
  );
  const written = JSON.stringify(rows) + service.log.join('');
  for (const secret of [apiKey, next.apiKey]) {
    assert.equal(written.includes(secret.slice(3, 33)), false);
    assert.equal(written.includes(Buffer.from(secret).toString('hex')), false);
  }
});

test('every change has an audit row with actor and reason', async () => {
  const { key } = await createKey(service);
  await rollKey(service, key.name, HOUR_MS);
  await revokeKeys(service, key.id);
  const entries = await listAuditEntries(pool, key.id);
  assert.deepEqual(
    entries.map(({ action, actor, reason }) => [action, actor, reason]),
    ['api_key.create', 'api_key.roll', 'api_key.revoke'].map((action) => [
      action,
      'test',
      'requested by a test',
    ]),
  );
  const { rows } = await pool.query(
    `select details from audit_log where subject_id = $1 and action = 'api_key.create'`,
    [key.id],
  );
  assert.deepEqual(rows, [
    {
      details: {
        name: key.name,
        key_hint: key.keyHint,
        scopes: 'outreach:send',
        expires_at: null,
      },
    },
  ]);
});

test('a refused change stores nothing', async () => {
  const { key } = await createKey(service);
  const counts = () => Promise.all([service.count('api_keys'), service.count('audit_log')]);
  const before = await counts();
  const past = new Date(fromStart(0));
  for (const [order, message] of [
    [{ name: key.name }, `There is an API key "${key.name}" already`],
    [{ name: '' }, '1 to 64 characters'],
    [{ name: ' sheet' }, '1 to 64 characters'],
    [{ name: 'a\nb' }, '1 to 64 characters'],
    [{ name: 'x'.repeat(65) }, '1 to 64 characters'],
    [{ name: key.id }, 'must not look like the id'],
    [{ scopes: [] }, 'needs a scope'],
    [{ term: { until: past } }, 'would have expired'],
  ] as const) {
    await assert.rejects(createKey(service, order), ({ message: said }: Error) =>
      said.includes(message),
    );
  }
  await assert.rejects(rollKey(service, 'nobody', 0), /There is no such API key/);
  await assert.rejects(revokeKeys(service, 'nobody'), /There is no such API key/);
  assert.deepEqual(await counts(), before);
});

test('a successor has the name, scopes and lifetime of the old key', async () => {
  const old = await createKey(service, {
    scopes: ['metrics:read', 'outreach:send'],
    term: { days: 10 },
  });
  clock.advance(DAY_MS);
  const next = await rollKey(service, old.key.name, HOUR_MS);
  assert.notEqual(next.apiKey, old.apiKey);
  assert.deepEqual(
    [next.key.name, next.key.scopes, next.key.expiresAt],
    [old.key.name, old.key.scopes, new Date(fromStart(11 * DAY_MS))],
  );
  assert.deepEqual(next.replacedEndsAt, new Date(fromStart(DAY_MS + HOUR_MS)));
  assert.deepEqual([await stateOf(old.key), await stateOf(next.key)], ['rolled', 'active']);
  await assert.rejects(rollKey(service, old.key.id, 0), /was rolled already/);
  clock.advance(HOUR_MS);
  assert.deepEqual([await stateOf(old.key), await stateOf(next.key)], ['expired', 'active']);
});

test('a name belongs to the newest key, and revoking it revokes all valid keys of it', async () => {
  const first = await createKey(service);
  const { name } = first.key;
  const second = await rollKey(service, name, 0);
  const third = await rollKey(service, name, HOUR_MS);
  const fourth = await rollKey(service, name, HOUR_MS);
  const revoked = await revokeKeys(service, name);
  // The first one has expired.
  const ids = [second, third, fourth].map(({ key }) => key.id);
  assert.deepEqual(revoked.toSorted(), ids.toSorted());
  assert.equal(await stateOf(second.key), 'revoked');
  assert.equal(await stateOf(first.key), 'expired');
  await assert.rejects(revokeKeys(service, name), /There is no such API key/);
  await assert.rejects(rollKey(service, fourth.key.id, 0), /There is no such API key/);
  assert.equal((await createKey(service, { name })).key.name, name);
});

test('a key that expired keeps its name until it is rolled or revoked', async () => {
  const { key } = await createKey(service, { term: { days: 1 } });
  clock.advance(DAY_MS);
  await assert.rejects(createKey(service, { name: key.name }), /already/);
  const next = await rollKey(service, key.name, DAY_MS);
  assert.deepEqual([await stateOf(key), await stateOf(next.key)], ['expired', 'active']);
});

test('the last use is stored at most once a minute, and not for a refused key', async (t) => {
  const { apiKey, key } = await createKey(service);
  await pool.query('create table uses (at timestamptz)');
  await pool.query(`create function note_use() returns trigger language plpgsql
    as 'begin insert into uses values (new.last_used_at); return null; end'`);
  await pool.query(
    'create trigger note_use after update on api_keys for each row execute function note_use()',
  );
  t.after(() => pool.query('drop trigger note_use on api_keys'));
  /** Uses the key several times concurrently; returns the number of writes. */
  async function use(): Promise<number> {
    await pool.query('truncate uses');
    await Promise.all(
      Array.from({ length: 5 }, () => authenticateApiKey(context, apiKey, 'outreach:send')),
    );
    // Only this test waits for the write.
    await eventually(() => pool.idleCount === pool.totalCount);
    return (await pool.query('select from uses')).rowCount ?? 0;
  }
  const lastUse = async () => (await reread(key)).lastUsedAt;

  assert.equal(await lastUse(), null);
  const first = clock.now();
  assert.equal(await use(), 1);
  assert.deepEqual(await lastUse(), first);
  clock.advance(60 * SECOND_MS - 1);
  assert.equal(await use(), 0);
  clock.advance(1);
  assert.equal(await use(), 1);
  const last = clock.now();
  await revokeKeys(service, key.id);
  clock.advance(HOUR_MS);
  await assert.rejects(use(), { code: 'invalid_api_key' });
  assert.deepEqual(await lastUse(), last);
});

test('a use that cannot be stored is logged, and the request is served', async () => {
  const { apiKey, key } = await createKey(service);
  await pool.query(
    'alter table api_keys add constraint no_use check (last_used_at is null) not valid',
  );
  const { id } = await authenticateApiKey(context, apiKey, 'outreach:send');
  assert.equal(id, key.id);
  const isLogged = () =>
    service.log.some(
      (line) => line.includes('api_key.recording_use_failed') && line.includes(key.id),
    );
  await eventually(isLogged);
  await pool.query('alter table api_keys drop constraint no_use');
});

test('configured keys are valid for their scope without a database', async () => {
  const alone = withoutDatabase();
  // As Node decodes the bytes that curl sends.
  const asHeader = Buffer.from(OUTREACH_KEY).toString('latin1');
  const found = await authenticateApiKey(alone, asHeader, 'outreach:send');
  assert.deepEqual(found, { id: null, name: null, scopes: ['outreach:send'] });
  await authenticateApiKey(alone, METRICS_TOKEN, 'metrics:read');
  for (const [key, scope] of [
    [asHeader, 'metrics:read'],
    [METRICS_TOKEN, 'outreach:send'],
    [METRICS_TOKEN, 'admin'],
  ] as const) {
    await assert.rejects(authenticateApiKey(alone, key, scope), { code: 'insufficient_scope' });
  }
});

test('a text that is not an API key is refused without a database, a key is not', async () => {
  const alone = withoutDatabase();
  for (const text of [MISTYPED_API_KEY, '', `${METRICS_TOKEN}x`, METRICS_TOKEN.slice(1)]) {
    await assert.rejects(authenticateApiKey(alone, text, 'metrics:read'), {
      code: 'invalid_api_key',
    });
  }
  await assert.rejects(authenticateApiKey(alone, anyUnknownApiKey(), 'metrics:read'), {
    code: 'ECONNREFUSED',
  });
});
