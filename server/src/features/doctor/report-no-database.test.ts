import assert from 'node:assert/strict';
import { test } from 'node:test';

import { DatabaseError } from 'pg';

import { RemedyError, StartupError } from '#server/config/startup-error.ts';

import { reportNoDatabase } from './check-database.ts';

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function rejection(code: string, message: string): DatabaseError {
  return Object.assign(new DatabaseError(message, 0, 'error'), { code });
}

test('each cause has its own fix', () => {
  for (const [error, cause, fix] of [
    [
      new RemedyError({ problem: 'DATABASE_URL leads to a pooler', fix: 'use PgBouncer 1.21' }),
      'DATABASE_URL leads to a pooler.',
      'Use PgBouncer 1.21.',
    ],
    [
      failure('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate; try --use-system-ca'),
      'The server has a self-signed certificate.',
      'Set sslrootcert to a copy of that certificate (docs/operations/postgresql.md).',
    ],
    [
      failure('CERT_NOT_YET_VALID', 'certificate is not yet valid'),
      'The server has a certificate that is not valid yet.',
      'Check the clocks of both machines.',
    ],
    [
      rejection('28000', 'no pg_hba.conf entry for host "10.0.0.1", no encryption'),
      'No pg_hba.conf entry for host "10.0.0.1", no encryption.',
      'Set sslmode=require or more in the URL, since the server accepts no unencrypted connection.',
    ],
    [
      rejection('53300', 'too many connections'),
      'Too many connections.',
      'Raise max_connections of the server, or lower LATCHKEY_DATABASE_POOL_SIZE.',
    ],
    [
      failure('ECONNREFUSED', 'connect ECONNREFUSED 10.0.0.1:5432'),
      'Connect ECONNREFUSED 10.0.0.1:5432.',
      'Check the URL, and that the server runs.',
    ],
  ] as const) {
    const findings = reportNoDatabase(error).map((each) => [each.code, each.cause, each.fix]);
    assert.deepEqual(findings, [['database.unavailable', cause, fix]]);
  }
});

test('repeats the sentences of the embedded database, which have their fix', () => {
  const [finding] = reportNoDatabase(new StartupError(['The disk is full: free 512 MiB.']));
  assert.equal(finding?.cause, 'The disk is full: free 512 MiB.');
  assert.match(finding.fix ?? '', /^Do what the cause says\./u);
});
