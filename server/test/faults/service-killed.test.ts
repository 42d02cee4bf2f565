import assert from 'node:assert/strict';
import { test } from 'node:test';

import { signalProcess } from '#server/db/embedded/processes.ts';

import { listDatabaseProcesses, createServiceHome } from '../service-process.ts';
import { issueForLoad, failuresOf } from './loaded-service.ts';
import { verifyLedger } from './verify-ledger.ts';
import { startRecordedLoad } from './recorded-load.ts';

test(
  'loses no acknowledged change when the service is killed under load, alone or with its database',
  { skip: process.platform !== 'linux' },
  async () => {
    await using home = await createServiceHome();
    let starting = home.start();
    let service = await starting;
    const keys = await issueForLoad(home);
    await using load = startRecordedLoad(async () => (await starting).url, keys);
    for (const together of [false, true]) {
      await load.waitForAnswers(150);
      const database = together ? await listDatabaseProcesses(home.dataDirectory) : [];
      const ended = service.stop('SIGKILL');
      for (const pid of database) signalProcess(pid, 'SIGKILL');
      starting = ended.then(() => home.start());
      service = await starting;
    }
    await load.waitForAnswers(150);
    const ledger = await load.stop();
    assert.deepEqual(failuresOf(ledger.outcomes), [0]);
    await verifyLedger(service.url, ledger);
    assert.deepEqual(await service.stop(), { code: 0, signal: null });
    assert.deepEqual(await listDatabaseProcesses(home.dataDirectory), []);
  },
);
