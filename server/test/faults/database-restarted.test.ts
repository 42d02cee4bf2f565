import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import type { EmbeddedConnection } from '#server/db/embedded/connection.ts';
import { startEmbeddedPostgres } from '#server/db/embedded/start.ts';

import { createRecordingLog } from '../embedded-postgres.ts';
import { eventually } from '../eventually.ts';
import { createServiceHome } from '../service-process.ts';
import { assertUnavailable, issueForLoad, slowestMs, failuresOf } from './loaded-service.ts';
import { verifyLedger } from './verify-ledger.ts';
import { startRecordedLoad } from './recorded-load.ts';

const MAX_RESPONSE_MS = 6_000;

const Readiness = Type.Object({ status: Type.String() });

test('a running service survives a restart of the database of DATABASE_URL', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'latchkey-elsewhere-'));
  // A service that dropped root reaches the socket through this directory.
  await chmod(dataDirectory, 0o711);
  const options = { dataDirectory, durable: false, log: createRecordingLog() };
  let postgres = await startEmbeddedPostgres(options);
  try {
    await using home = await createServiceHome();
    const settings = {
      DATABASE_URL: toUrl(postgres.connection),
      LATCHKEY_SECRET: 'the secret of a service whose database restarts',
    };
    const service = await home.start(settings);
    const keys = await issueForLoad(home, settings);
    await using load = startRecordedLoad(async () => service.url, keys);
    await load.waitForAnswers(150);
    assert.equal(await readiness(service.url), '200 ready');
    await postgres.stop();
    await eventually(async () => (await readiness(service.url)) === '503 not_ready');
    postgres = await startEmbeddedPostgres(options);
    await load.waitForAnswers(150);
    await eventually(async () => (await readiness(service.url)) === '200 ready');
    const ledger = await load.stop();
    assert.deepEqual(failuresOf(ledger.outcomes), [503]);
    assertUnavailable(ledger.outcomes, ['database_unavailable']);
    assert.ok(slowestMs(ledger.outcomes) < MAX_RESPONSE_MS);
    await verifyLedger(service.url, ledger);
    assert.deepEqual(await service.stop(), { code: 0, signal: null });
  } finally {
    await postgres.stop();
    await rm(dataDirectory, { recursive: true, force: true });
  }
});

function toUrl({ host, port, user, database }: EmbeddedConnection): string {
  return `postgresql://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
}

async function readiness(url: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/health/ready`);
  const { status } = Parse(Readiness, await response.json());
  return `${response.status} ${status}`;
}
