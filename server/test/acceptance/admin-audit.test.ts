import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';

import { appendEntries, emptyAuditLog, tamper } from '../audit-log.ts';
import { startTestService } from '../harness.ts';
import { openBrowser } from '../operator-steps.ts';
import { DAY_MS } from '../test-clock.ts';
import { readBody, readItems } from './bodies.ts';

const AUDIT = '/api/v1/admin/audit';

const service = await startTestService();
const { clock, pool } = service;
const admin = await openBrowser(service);

const ENTRIES = [
  ['cli:anna', 'license.reveal', 'license-1', 'Ticket 4711: the customer’s e-mail bounced'],
  ['cli:ben sudo:anna', 'license.suspend', 'license-2', null],
  ['operator:anna@example.com', 'licenses.export', '*', 'for the tax office'],
  ['latchkey', 'operator.sign_in', '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d', null],
] as const;

async function fill(count = 0): Promise<void> {
  await emptyAuditLog(pool);
  const entries = [...ENTRIES, ...Array.from({ length: count }, () => ENTRIES[0])];
  await appendEntries(
    pool,
    entries.map(([actor, action, subjectId, reason], index) => ({
      occurredAt: new Date(clock.now().getTime() + index * DAY_MS),
      actor,
      action,
      subjectId,
      reason,
      details: { index },
    })),
  );
}

beforeEach(() => fill());

function at(days: number): string {
  return new Date(clock.now().getTime() + days * DAY_MS).toISOString();
}

/** The sequence numbers of the entries of a query. */
async function find(query: Readonly<Record<string, string>>): Promise<unknown[]> {
  const answer = await admin.get(`${AUDIT}?${new URLSearchParams(query).toString()}`);
  assert.equal(answer.status, 200, answer.text);
  return readItems(answer.body).map(({ sequence }) => sequence);
}

describe('the list', () => {
  test('has every entry, the newest first, page by page', async () => {
    const first = await admin.get(`${AUDIT}?limit=3`);
    const items = readItems(first.body);
    const { rows } = await pool.query(
      `select id, encode(hash, 'hex') as hash from audit_log where sequence = 4`,
    );
    assert.deepEqual(items[0], {
      id: rows[0].id,
      sequence: 4,
      occurred_at: new Date(clock.now().getTime() + 3 * DAY_MS).toISOString(),
      actor: 'latchkey',
      action: 'operator.sign_in',
      subject_id: '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d',
      reason: null,
      details: { index: 3 },
      hash: rows[0].hash,
    });
    const cursor = String(readBody(first.body)['next_cursor']);
    assert.deepEqual(await find({ limit: '3', cursor }), [1]);
    assert.deepEqual(await find({ sort: 'occurred_at' }), [1, 2, 3, 4]);
  });

  test('is filtered by time, actor, action and subject', async () => {
    assert.deepEqual(await find({ since: at(1), until: at(3) }), [3, 2]);
    const day = at(1).slice(0, 10);
    assert.deepEqual(await find({ until: day }), [1]);
    assert.deepEqual(await find({ actor: 'anna' }), [2, 1]);
    assert.deepEqual(await find({ actor: 'sudo:anna' }), [2]);
    assert.deepEqual(await find({ action: 'license' }), [2, 1]);
    assert.deepEqual(await find({ action: 'license.suspend' }), [2]);
    assert.deepEqual(await find({ subject_id: 'license-1' }), [1]);
    assert.deepEqual(await find({ action: 'license', actor: 'sudo:anna', since: at(2) }), []);
  });

  test('is searched by the beginnings of words', async () => {
    for (const [search, found] of [
      ['bounc', [1]],
      ['TICKET 47', [1]],
      ['anna@example.com', [3]],
      ['anna', [3, 2, 1]],
      ['tax ben', []],
      ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d', [4]],
      ['sign_in', [4]],
      [' ', [4, 3, 2, 1]],
      [`' | !:* \\ & <-> (`, [4, 3, 2, 1]],
      [`it's :* & !anna`, []],
    ] as const) {
      assert.deepEqual(await find({ search }), found, search);
    }
  });

  test('is exported as CSV, which records that', async () => {
    const csv = await admin.get(`${AUDIT}/export?action=license&sort=occurred_at`);
    const [head = '', first = '', second = ''] = csv.text.split('\r\n');
    assert.match(head, /sequence,occurred_at,actor,action,subject_id,reason,details,hash$/);
    assert.match(first, /^1,[^,]+,cli:anna,license\.reveal,license-1,/);
    assert.match(second, /^2,/);
    assert.deepEqual(await find({ action: 'audit.export', actor: `operator:${admin.email}` }), [5]);
  });

  test('is exported with the filters in the entry, without addresses', async () => {
    await admin.get(`${AUDIT}/export?actor=operator:anna@example.com&search=4711&since=2027-01-01`);
    const { rows } = await pool.query(
      `select subject_id, details from audit_log where action = 'audit.export'`,
    );
    assert.deepEqual(rows, [
      {
        subject_id: 'audit entries',
        details: { actor: 'operator:[e-mail]', since: '2027-01-01' },
      },
    ]);
  });

  test('is not exported for a filter that is not valid, and no entry is written', async () => {
    assert.equal((await admin.get(`${AUDIT}/export?since=yesterday`)).status, 422);
    assert.deepEqual(await find({ action: 'audit.export' }), []);
  });

  test('rejects a time, a sort or a cursor that is not one', async () => {
    for (const query of ['since=yesterday', 'sort=actor', 'cursor=x', 'limit=0', 'colour=red']) {
      assert.equal((await admin.get(`${AUDIT}?${query}`)).status, 422, query);
    }
  });
});

async function verify(body: object = {}) {
  return readBody((await admin.post(`${AUDIT}/verify`, body)).body);
}

describe('the chain', () => {
  test('is intact, and verified at its newest end', async () => {
    const expected = { entries: 4, checked: 4, problem: null };
    assert.deepEqual((await admin.get(`${AUDIT}/chain`)).body, expected);
    const { last, ...result } = await verify();
    assert.deepEqual(result, { verified: 4, problem: null, complete: true });
    const { sequence, hash } = readBody(last);
    const noted = { sequence, hash };
    assert.equal((await verify({ expected: noted }))['problem'], null);
    assert.deepEqual((await verify({ after: noted }))['verified'], 0);
    const other = { sequence, hash: '0'.repeat(64) };
    assert.match(String((await verify({ expected: other }))['problem']), /^Entry 4 does not have/u);
    assert.match(String((await verify({ after: other }))['problem']), /^Entry 4 was replaced/u);
  });

  test('is verified in parts of 20,000 entries', async () => {
    await fill(20_001);
    const first = await verify();
    assert.deepEqual([first['verified'], first['complete']], [20_000, false]);
    const { sequence, hash } = readBody(first['last']);
    const second = await verify({ after: { sequence, hash } });
    assert.deepEqual([second['verified'], second['complete']], [5, true]);
  });

  test('reports a changed entry', async () => {
    await tamper(pool, `update audit_log set actor = 'cli:eve' where sequence = 2`);
    const message =
      'Entry 2 was changed or replaced: its hash is not that of its content and the entry before it.';
    const chain = (await admin.get(`${AUDIT}/chain`)).body;
    assert.deepEqual(chain, { entries: 4, checked: 1, problem: message });
    const result = await verify();
    assert.deepEqual(result, { verified: 1, problem: message, complete: false, last: null });
  });
});
