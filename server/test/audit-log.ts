import { randomUUID } from 'node:crypto';

import { Client, type Pool } from 'pg';

import type { AuditEntry } from '#server/features/audit/queries.ts';
import { canonicalizeContent, hashEntry, toContent } from '#server/features/audit/rules/chain.ts';

/** Changes the audit log as its owner can: with its triggers disabled, in one transaction. */
export async function tamper(pool: Pool, statements: string): Promise<void> {
  await pool.query(
    `alter table audit_log disable trigger user; alter table audit_head disable trigger user;
     ${statements};
     alter table audit_log enable trigger user; alter table audit_head enable trigger user`,
  );
}

/** Empties the audit log, whose triggers refuse that, and begins a new chain. */
export async function emptyAuditLog(pool: Pool): Promise<void> {
  await tamper(
    pool,
    `truncate audit_log, audit_renamed_subjects;
     update audit_head set sequence = 0, hash = decode(repeat('00', 32), 'hex')`,
  );
}

/** Appends many entries with one statement, as the service appends each of them. */
export async function appendEntries(pool: Pool, entries: readonly AuditEntry[]): Promise<void> {
  const { rows: heads } = await pool.query(
    `select sequence, encode(hash, 'hex') as hash from audit_head`,
  );
  let { sequence, hash } = heads[0];
  const rows = entries.map((entry) => {
    const content = toContent({ ...entry, id: randomUUID() });
    sequence += 1;
    hash = hashEntry(hash, sequence, canonicalizeContent(content));
    return { ...content, sequence, hash: `\\x${hash}` };
  });
  await pool.query(
    `insert into audit_log
     select * from jsonb_populate_recordset(null::audit_log, $1)`,
    [JSON.stringify(rows)],
  );
  await pool.query(`update audit_head set sequence = $1, hash = decode($2, 'hex')`, [
    sequence,
    hash,
  ]);
}

/**
 * Rejects statements that follow an audit entry in its transaction. The entry holds the row lock of the chain until the
 * commit, so that a lock taken after it could cause a deadlock.
 */
export function requireAuditEntryLast(pool: Pool): void {
  pool.on('connect', (client) => {
    let isInTransaction = false;
    let isRecorded = false;
    const check = (statement: unknown): void => {
      const { name = '', text = '' } = Object(statement);
      if (/^(?:begin|commit|rollback)/u.test(text)) {
        isInTransaction = text.startsWith('begin');
        isRecorded = false;
      } else if (name === 'audit_insert') isRecorded = isInTransaction;
      else if (isRecorded) throw new Error(`${name || text} follows audit_insert: insert it last`);
    };
    Object.assign(client, {
      query: (...parameters: readonly unknown[]) => {
        check(parameters[0]);
        // Read at each call, because tests replace it.
        return Reflect.apply(Reflect.get(Client.prototype, 'query'), client, parameters);
      },
    });
  });
}
