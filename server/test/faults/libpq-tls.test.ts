/** The outcomes that database-tls.test.ts expects of the service, with libpq itself. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';

import { lacksOpenssl } from '../../../agent/test/certificates.ts';

import { inheritedVariables } from '../inherited-variables.ts';
import {
  createCertificates,
  MODES,
  SCENARIOS,
  toParameters,
  type Certificates,
} from '../tls-outcomes.ts';
import { startTlsPostgres, type TlsPostgres } from '../tls-postgres.ts';

const lacksPsql =
  spawnSync('psql', ['--version']).status === 0 ? false : 'needs psql (Debian: postgresql-client)';

const IS_ENCRYPTED = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';

let certificates: Certificates;
let server: TlsPostgres;

before(async () => {
  if (lacksOpenssl !== false || lacksPsql !== false) return;
  certificates = createCertificates();
  server = await startTlsPostgres();
});

after(async () => {
  await server?.[Symbol.asyncDispose]();
  certificates?.[Symbol.dispose]();
});

async function connect(parameters: Record<string, string>): Promise<string> {
  const query = new URLSearchParams(parameters).toString();
  const url = `postgres://latchkey@localhost:${server.port}/postgres?${query}`;
  const env = { ...inheritedVariables(), HOME: certificates.directory };
  try {
    const { stdout } = await promisify(execFile)('psql', [url, '-XAtc', IS_ENCRYPTED], { env });
    return stdout.trim() === 't' ? 'tls' : 'plain';
  } catch {
    return '-';
  }
}

describe('psql', { skip: lacksOpenssl || lacksPsql }, () => {
  for (const { name, settings, clients } of SCENARIOS) {
    test(`connects to ${name} as the service does`, async () => {
      await server.configure(settings(certificates));
      for (const [files, expected] of clients) {
        const parameters = toParameters(files, certificates);
        const outcomes = await Promise.all(
          MODES.map((sslmode) => connect({ sslmode, ...parameters })),
        );
        assert.equal(outcomes.join(' '), expected, JSON.stringify(files));
      }
    });
  }
});
