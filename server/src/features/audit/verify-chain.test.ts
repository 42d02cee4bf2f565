import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';

import { appendEntries, emptyAuditLog, tamper } from '../../../test/audit-log.ts';
import { openTestPool } from '../../../test/database-pool.ts';
import { insertAuditEntry, type AuditEntry } from './queries.ts';
import { canonicalizeContent, hashEntry } from './rules/chain.ts';
import { verifyAuditLog, verifyNewestEntries } from './verify-chain.ts';

const pool = await openTestPool();
const ENTRIES = 5;

/** The content of an entry. */
function entry(index: number): AuditEntry {
  return {
    occurredAt: new Date(Date.UTC(2026, 10, 20, 10, 0, index)),
    actor: 'cli:anna',
    action: 'license.suspend',
    subjectId: `subject ${index}`,
    reason: index === 2 ? null : `reason ${index}`,
    details: { index, ratio: 0.1, done: true, none: null, text: 'ä€😀"\n' },
  };
}

async function fill(count: number): Promise<void> {
  for (let index = 1; index <= count; index += 1) await insertAuditEntry(pool, entry(index));
}

beforeEach(async () => {
  await emptyAuditLog(pool);
  await fill(ENTRIES);
});

/** The message of the first problem. */
async function findProblem(expected?: { sequence: number; hash: string }): Promise<string | null> {
  const { problem } = await verifyAuditLog({ pool }, { expected: expected ?? null });
  return problem?.message ?? null;
}

async function findHead() {
  const { head } = await verifyAuditLog({ pool });
  assert.ok(head !== null);
  return head;
}

/** Rebuilds all hashes from an entry on, as an attacker who knows the format can. */
async function forge(fromSequence: number): Promise<void> {
  const { rows } = await pool.query(
    `select *, occurred_at::text as at, encode(hash, 'hex') as hex from audit_log order by sequence`,
  );
  let hash = '0'.repeat(64);
  for (const row of rows) {
    const { id, actor, action, subject_id, reason, details } = row;
    const occurred_at = row.occurred_at.toISOString().replace('Z', '000Z');
    const content = { id, occurred_at, actor, action, subject_id, reason, details };
    hash =
      row.sequence < fromSequence
        ? row.hex
        : hashEntry(hash, row.sequence, canonicalizeContent(content));
    await tamper(
      pool,
      `update audit_log set hash = decode('${hash}', 'hex') where sequence = ${row.sequence};
       update audit_head set sequence = ${row.sequence}, hash = decode('${hash}', 'hex')`,
    );
  }
}

test('verifies an empty log and an intact one, whose head is the newest entry', async () => {
  const { rows } = await pool.query(
    `select encode(hash, 'hex') as hash from audit_log where sequence = 5`,
  );
  assert.deepEqual(await verifyAuditLog({ pool }), {
    verified: ENTRIES,
    head: { sequence: 5, hash: rows[0].hash, occurredAt: '2026-11-20T10:00:05.000000Z' },
    problem: null,
    isComplete: true,
  });
  await emptyAuditLog(pool);
  assert.deepEqual(await verifyAuditLog({ pool }), {
    verified: 0,
    head: null,
    problem: null,
    isComplete: true,
  });
});

test('hashes the documented bytes', async () => {
  const { rows } = await pool.query('select id, hash from audit_log where sequence = 1');
  const [{ id, hash }] = rows;
  const canonical = `{"action":"license.suspend","actor":"cli:anna","details":{"done":true,"index":1,"none":null,"ratio":0.1,"text":"ä€😀\\"\\n"},"id":"${id}","occurred_at":"2026-11-20T10:00:01.000000Z","reason":"reason 1","subject_id":"subject 1"}`;
  const bytes = [Buffer.alloc(32), Buffer.from('0000000000000001', 'hex'), Buffer.from(canonical)];
  assert.deepEqual(hash, createHash('sha256').update(Buffer.concat(bytes)).digest());
});

test('verifies more entries than a page holds, and reports its progress', async () => {
  await appendEntries(
    pool,
    Array.from({ length: 2_100 }, (_, index) => entry(index)),
  );
  const reported: number[] = [];
  const report = (done: number) => reported.push(done);
  const { verified, problem } = await verifyAuditLog({ pool }, { report });
  assert.deepEqual([verified, problem], [2_105, null]);
  assert.deepEqual(reported, [1_000, 2_000, 2_105, 2_105]);
});

test('stores and verifies a lone surrogate as U+FFFD, and the largest and smallest numbers', async () => {
  await insertAuditEntry(pool, {
    occurredAt: new Date('2026-11-20T11:00:00.123Z'),
    actor: 'a\uD800',
    action: 'a',
    subjectId: 'a\uDC00b',
    reason: '\uD83D',
    details: { big: Number.MAX_VALUE, small: 5e-324, negative: -0, text: '\uD800' },
  });
  assert.equal(await findProblem(), null);
});

const CHANGES = {
  id: 'gen_random_uuid()',
  occurred_at: `occurred_at + interval '1 microsecond'`,
  actor: `'cli:eve'`,
  action: `'license.revoke'`,
  subject_id: `'other'`,
  reason: 'null',
  details: `details || '{"index": 9}'`,
  hash: `sha256('x')`,
};

describe('a changed column', () => {
  for (const [column, value] of Object.entries(CHANGES)) {
    test(column, async () => {
      await tamper(pool, `update audit_log set ${column} = ${value} where sequence = 3`);
      assert.equal(
        await findProblem(),
        'Entry 3 was changed or replaced: its hash is not that of its content and the entry before it.',
      );
    });
  }

  test('every column is tried', async () => {
    const { fields } = await pool.query('select * from audit_log limit 0');
    const names = fields.map(({ name }) => name).filter((name) => name !== 'sequence');
    assert.deepEqual(names.toSorted(), Object.keys(CHANGES).toSorted());
  });

  test('a number too large for JSON, null instead of an object, an infinite time', async () => {
    for (const change of [
      `details = '{"index": 1e400}'`,
      `details = 'null'`,
      `occurred_at = 'infinity'`,
    ]) {
      await emptyAuditLog(pool);
      await fill(ENTRIES);
      await tamper(pool, `update audit_log set ${change} where sequence = 2`);
      assert.match((await findProblem()) ?? '', /^Entry 2 was changed/u);
    }
  });

  test('sequence: a gap and a number below 1', async () => {
    await tamper(pool, 'update audit_log set sequence = 9 where sequence = 3');
    assert.equal(await findProblem(), 'Entry 3 is missing.');
    await tamper(
      pool,
      `alter table audit_log drop constraint audit_log_sequence_check;
       update audit_log set sequence = -7 where sequence = 9`,
    );
    assert.equal(await findProblem(), 'Entry -7 was inserted: entries are numbered from 1 on.');
    await tamper(pool, 'delete from audit_log where sequence < 1');
    await pool.query(
      'alter table audit_log add constraint audit_log_sequence_check check (sequence > 0)',
    );
  });
});

test('reports a removed entry, and several', async () => {
  await tamper(pool, 'delete from audit_log where sequence = 2');
  assert.equal(await findProblem(), 'Entry 2 is missing.');
  await tamper(pool, 'delete from audit_log where sequence in (1, 3)');
  assert.equal(await findProblem(), 'Entries 1 to 3 are missing.');
});

test('reports a removed tail by the head, and its removal together with the head by --expect', async () => {
  const expected = await findHead();
  await tamper(pool, 'delete from audit_log where sequence > 3');
  assert.equal(await findProblem(), 'Entries 4 to 5 are missing.');
  await forge(9);
  assert.equal(await findProblem(), null);
  assert.equal(
    await findProblem(expected),
    'Entry 4 is missing: the log ends at entry 3, before the expected entry 5.',
  );
  await tamper(pool, 'delete from audit_log where sequence < 9');
  assert.equal(await findProblem(), 'Entries 1 to 3 are missing.');
});

test('reports a swapped pair', async () => {
  await tamper(
    pool,
    `update audit_log set sequence = 99 where sequence = 2;
     update audit_log set sequence = 2 where sequence = 3;
     update audit_log set sequence = 3 where sequence = 99`,
  );
  assert.match((await findProblem()) ?? '', /^Entry 2 was changed or replaced/u);
});

test('detects a rewritten chain only with an expected head', async () => {
  const expected = await findHead();
  await fill(1);
  assert.equal(await findProblem(expected), null);
  await tamper(pool, `update audit_log set actor = 'cli:eve' where sequence = 2`);
  await forge(2);
  assert.equal(await findProblem(), null);
  assert.equal(
    await findProblem(expected),
    'Entry 5 does not have the expected hash: it or an entry before it was replaced.',
  );
});

test('reports a head that is missing, behind or different', async () => {
  await tamper(pool, `update audit_head set hash = sha256('x')`);
  assert.equal(
    await findProblem(),
    'Entry 5 was replaced: audit_head contains another hash of it.',
  );
  await tamper(pool, 'update audit_head set sequence = 4');
  assert.equal(await findProblem(), 'Entry 5 was inserted: audit_head ends at entry 4.');
  await tamper(pool, 'delete from audit_head');
  assert.equal(
    await findProblem(),
    'Entries from 6 on may be missing: the row of audit_head was removed.',
  );
  await assert.rejects(fill(1), /audit_head has no row/u);
  await pool.query(`insert into audit_head (sequence, hash) values (0, sha256('x'))`);
});

test('refuses UPDATE, DELETE and TRUNCATE', async () => {
  for (const statement of [
    `update audit_log set reason = 'x'`,
    'delete from audit_log',
    'truncate audit_log',
    'delete from audit_head',
    'truncate audit_head',
  ]) {
    await assert.rejects(pool.query(statement), /the audit log is append-only/u, statement);
  }
  assert.equal(await findProblem(), null);
});

test('the newest entries are verified without the older ones', async () => {
  await tamper(pool, `update audit_log set actor = 'x' where sequence = 3`);
  assert.equal((await verifyNewestEntries({ pool }, 2)).problem, null);
  const { problem } = await verifyNewestEntries({ pool }, 3);
  assert.equal(problem?.sequence, 3);
  assert.equal((await verifyNewestEntries({ pool }, 1_000)).problem?.sequence, 3);
  await tamper(pool, 'delete from audit_log where sequence = 4');
  assert.equal((await verifyNewestEntries({ pool }, 1)).problem?.message, 'Entry 4 is missing.');
});
