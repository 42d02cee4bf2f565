import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';

import { insertAuditEntry } from '#server/features/audit/queries.ts';

import { emptyAuditLog, tamper } from '../../test/audit-log.ts';
import { openCommandLine } from '../../test/test-command-line.ts';
import { checkAuditLog } from '#server/features/doctor/check-audit-log.ts';

const { pool, run, runJson } = await openCommandLine();

beforeEach(async () => {
  await emptyAuditLog(pool);
  for (const second of [1, 2, 3]) {
    await insertAuditEntry(pool, {
      occurredAt: new Date(Date.UTC(2026, 10, 20, 10, 0, second)),
      actor: 'cli:anna',
      action: 'license.suspend',
      subjectId: 'a',
      reason: 'test',
      details: {},
    });
  }
});

async function readHash(sequence: number): Promise<string> {
  const { rows } = await pool.query(
    `select encode(hash, 'hex') as hash from audit_log where sequence = $1`,
    [sequence],
  );
  return rows[0].hash;
}

describe('exit code 0', () => {
  test('prints the head of an intact log', async () => {
    const hash = await readHash(3);
    const { code, stdout, stderr } = await run('audit', 'verify');
    assert.deepEqual(
      [code, stdout],
      [0, `The audit log is intact. Entries: 3.\nHead: 3:${hash}, 2026-11-20T10:00:03.000000Z\n`],
    );
    assert.match(stderr, /^Note the head on another system/u);
    assert.deepEqual(await runJson('audit', 'verify'), {
      intact: true,
      verified: 3,
      head: { sequence: 3, occurred_at: '2026-11-20T10:00:03.000000Z', hash },
      problem: null,
    });
  });

  test('finds an expected head, also in capitals', async () => {
    const hash = await readHash(2);
    for (const given of [hash, hash.toUpperCase()]) {
      const { code, stdout } = await run('audit', 'verify', '--expect', `2:${given}`);
      assert.equal(code, 0);
      assert.match(stdout, /^The audit log is intact, and contains the expected entry 2\./u);
    }
  });

  test('reports a log without entries', async () => {
    await emptyAuditLog(pool);
    const { code, stdout } = await run('audit', 'verify');
    assert.deepEqual([code, stdout], [0, 'The audit log has no entries.\n']);
  });

  test('lists the numbers and hashes of entries', async () => {
    const { entries } = await runJson('audit', 'list', '--limit', '2');
    assert.deepEqual(
      entries.map(({ sequence, hash }: Record<string, unknown>) => [sequence, hash]),
      [
        [3, await readHash(3)],
        [2, await readHash(2)],
      ],
    );
  });
});

describe('exit code 1', () => {
  test('prints the first broken entry', async () => {
    await tamper(pool, `update audit_log set reason = 'other' where sequence >= 2`);
    const { code, stdout } = await run('audit', 'verify');
    assert.equal(code, 1);
    assert.equal(
      stdout,
      'The audit log is broken: Entry 2 was changed or replaced: its hash is not that of its content and the entry before it.\n',
    );
    const json = await run('audit', 'verify', '--json');
    assert.equal(json.code, 1);
    const { intact, verified, head, problem } = JSON.parse(json.stdout);
    assert.deepEqual([intact, verified, head, problem.sequence], [false, 1, null, 2]);
  });

  test('reports a cut log and another hash with --expect', async () => {
    const cut = await run('audit', 'verify', '--expect', `9:${'0'.repeat(64)}`);
    assert.equal(cut.code, 1);
    assert.match(cut.stdout, /Entry 4 is missing: the log ends at entry 3, before/u);
    const other = await run('audit', 'verify', '--expect', `2:${'0'.repeat(64)}`);
    assert.equal(other.code, 1);
    assert.match(other.stdout, /Entry 2 does not have the expected hash/u);
  });

  test('doctor reports a broken log, and the number of verified entries of an intact one', async () => {
    assert.deepEqual(await checkAuditLog(pool), {
      check: 'audit log',
      status: 'ok',
      symptom: 'Newest entries, all unchanged: 3.',
    });
    await tamper(pool, 'delete from audit_log where sequence = 2');
    const finding = await checkAuditLog(pool);
    assert.deepEqual(
      [finding.status, finding.code, finding.cause],
      ['failed', 'audit_log.broken', 'Entry 2 is missing.'],
    );
  });
});

test('rejects an invalid head (exit code 2)', async () => {
  for (const head of ['3', `0:${'0'.repeat(64)}`, `3:${'0'.repeat(63)}`, `3:${'x'.repeat(64)}`]) {
    const { code, stderr } = await run('audit', 'verify', '--expect', head);
    assert.equal(code, 2);
    assert.match(stderr, /64 hex digits/u);
  }
});
