/** The role that postgresql.md documents: enough for the service, and no more. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { lacksOpenssl } from '../../../agent/test/certificates.ts';

import { runDoctor } from '../doctor-process.ts';
import { createServiceHome } from '../service-process.ts';
import { execute, withDatabase } from '../test-cluster.ts';
import { createCertificates } from '../tls-outcomes.ts';
import { startTlsPostgres } from '../tls-postgres.ts';

const PAGE = fileURLToPath(new URL('../../../docs/operations/postgresql.md', import.meta.url));

/** Returns the statements of the page. */
async function readStatements(): Promise<readonly string[]> {
  const [, sql = ''] = /```sql\n(.*?)```/su.exec(await readFile(PAGE, 'utf8')) ?? [];
  const statements = sql.split(';\n').filter((each) => each !== '');
  assert.ok(statements.length > 5, sql);
  return statements;
}

test(
  'the service migrates, starts and works as the documented role, over a verified connection',
  { skip: lacksOpenssl },
  async () => {
    using certificates = createCertificates();
    await using server = await startTlsPostgres();
    await server.configure({
      certificate: certificates.server,
      rules: ['hostssl shared latchkey_app all scram-sha-256'],
    });
    await server.query('create database shared');
    const asOwner = withDatabase(server.socketUrl, 'shared');
    // The tests' owner of the server has the name of the role.
    for (const statement of await readStatements()) {
      await execute(
        asOwner,
        statement.replaceAll(/\b(role|to|authorization) latchkey\b/gu, '$1 latchkey_app'),
      );
    }
    const tls = `sslmode=verify-full&sslrootcert=${encodeURIComponent(certificates.root.certificateFile)}`;
    const url = `postgres://latchkey_app:choose-one@localhost:${server.port}/shared?${tls}`;
    const settings = {
      DATABASE_URL: url,
      LATCHKEY_SECRET: 'a secret of thirty-two characters or more',
    };
    await using home = await createServiceHome();
    const service = await home.start(settings);
    await home.run(['license', 'issue', '--product', 'personal'], settings);
    const [finding] = await runDoctor('database', settings);
    assert.match(finding?.symptom ?? '', /^PostgreSQL .* answers, encrypted with TLSv1\.3\.$/u);
    assert.deepEqual(await service.stop(), { code: 0, signal: null });
    for (const [statement, refusal] of [
      ['create table public.a (b text)', /permission denied for schema public/u],
      ['create schema other', /permission denied for database shared/u],
      ['create temporary table a (b text)', /permission denied to create temporary tables/u],
      ['create role other', /permission denied to create role/u],
    ] as const) {
      const asRole = new URL(asOwner);
      asRole.username = 'latchkey_app';
      await assert.rejects(execute(asRole.href, statement), refusal);
    }
  },
);
