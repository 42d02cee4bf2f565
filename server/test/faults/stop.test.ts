import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { type ExternalHome, createExternalHome } from '../external-service.ts';
import { openRawConnection, renderPost, type RawConnection } from '../raw-http.ts';
import { listDatabaseProcesses, createServiceHome } from '../service-process.ts';
import { assertUnavailable, issueForLoad, failuresOf } from './loaded-service.ts';
import { verifyLedger } from './verify-ledger.ts';
import { startRecordedLoad } from './recorded-load.ts';

const DONE = { code: 0, signal: null };

const TRIAL = renderPost('/api/v1/trial/start', { machine_fingerprint: { machine_id: 'a-1' } });
const HALF = TRIAL.length - 20;

/** Sends half a request, for which a stopping service has to wait. */
async function sendHalf(url: string): Promise<RawConnection> {
  const connection = await openRawConnection(url);
  connection.send(TRIAL.slice(0, HALF));
  // Until the service has read it.
  await fetch(`${url}/api/v1/health/live`);
  return connection;
}

describe('a stop', { concurrency: true }, () => {
  let external: ExternalHome;
  before(async () => {
    external = await createExternalHome();
  });
  after(() => external[Symbol.asyncDispose]());

  test('under load completes accepted requests, loses no count, and leaves no process', async () => {
    await using home = await createServiceHome();
    const first = await home.start();
    const keys = await issueForLoad(home);
    await using load = startRecordedLoad(async () => first.url, keys);
    await load.waitForAnswers(150);
    const ended = first.stop('SIGTERM');
    // Until the port is closed.
    await first.ended;
    const ledger = await load.stop();
    assert.deepEqual(await ended, DONE);
    assert.deepEqual(await listDatabaseProcesses(home.dataDirectory), []);
    // 503 is possible, too.
    assert.deepEqual(
      [...new Set([503, ...failuresOf(ledger.outcomes)])].toSorted((a, b) => a - b),
      [0, 503],
    );
    assertUnavailable(ledger.outcomes, ['draining']);
    // Requests without a response were not executed: exactly the valid responses were counted.
    for (const activation of ledger.activations) activation.unanswered = 0;
    const second = await home.start();
    await verifyLedger(second.url, ledger);
  });

  test('waits for a request in progress, and closes idle connections', async () => {
    const service = await external.start();
    using idle = await openRawConnection(service.url);
    using connection = await sendHalf(service.url);
    // Twice, since Ctrl-C arrives from the terminal and from npm.
    service.send('SIGINT');
    const ended = service.stop('SIGINT');
    await idle.waitForClose();
    await assert.rejects(openRawConnection(service.url), { code: 'ECONNREFUSED' });
    connection.send(TRIAL.slice(HALF));
    assert.match(await connection.waitForClose(), /^HTTP\/1\.1 200 OK\r\n/u);
    assert.deepEqual(await ended, DONE);
  });

  test('aborts an endless request that makes progress after ten seconds, and one without earlier', async (t) => {
    const service = await external.start();
    using silent = await sendHalf(service.url);
    using connection = await openRawConnection(service.url);
    connection.send(TRIAL.replace(/content-length: \d+/iu, 'content-length: 65000').slice(0, HALF));
    const sending = setInterval(() => connection.send(' '.repeat(400)), 100);
    t.after(() => clearInterval(sending));
    await fetch(`${service.url}/api/v1/health/live`);
    const startedAt = performance.now();
    const ended = service.stop('SIGTERM');
    assert.match(await silent.waitForClose(), /^HTTP\/1\.1 408 /u);
    assert.ok(performance.now() - startedAt < 9_000);
    assert.deepEqual(await ended, DONE);
    const seconds = (performance.now() - startedAt) / 1_000;
    assert.ok(seconds > 9 && seconds < 20, `the stop took ${seconds} s`);
    await connection.waitForClose();
  });

  test('ends at once on a second Ctrl-C', async () => {
    const service = await external.start();
    using idle = await openRawConnection(service.url);
    using connection = await sendHalf(service.url);
    service.send('SIGINT');
    // Until the first has arrived; a second one counts only after a second.
    await idle.waitForClose();
    await sleep(1_200);
    const startedAt = performance.now();
    assert.deepEqual(await service.stop('SIGINT'), { code: 1, signal: null });
    assert.ok(performance.now() - startedAt < 6_000);
    await connection.waitForClose();
  });
});
