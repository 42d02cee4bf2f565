/** A primary that keeps its connections but answers nothing, as after a loss of its power or network. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { measureReturn, verifyEvents } from '../faults/failover-steps.ts';
import { assertUnavailable, failuresOf, issueForLoad } from '../faults/loaded-service.ts';
import { startRecordedEvents } from '../faults/recorded-events.ts';
import { startRecordedLoad } from '../faults/recorded-load.ts';
import { verifyLedger } from '../faults/verify-ledger.ts';
import { lacksPostgres } from '../installed-postgres.ts';
import { startReplicatedPostgres } from '../replicated-postgres.ts';
import { createServiceHome } from '../service-process.ts';
import { waitForBothWorkers } from './both-workers.ts';
import { lacksWorkers } from './lacks-workers.ts';

/** 5 s for a statement, 2 s for a connection to the frozen host, and as long again for a busy machine. */
const MAX_BACK_MS = 14_000;

test(
  'two workers go on at the promoted standby after the primary froze, and lose no acknowledged change',
  { skip: lacksPostgres || lacksWorkers },
  async (t) => {
    await using postgres = await startReplicatedPostgres();
    const { primary, standby } = postgres;
    await primary.query('create database latchkey');
    await using home = await createServiceHome();
    const settings = {
      DATABASE_URL: postgres.urlOf('latchkey'),
      LATCHKEY_SECRET: 'the secret of workers whose database freezes',
      LATCHKEY_EVENTS_RATE: '100000/100000',
    };
    const service = await home.start(settings, ['--workers', '2']);
    await waitForBothWorkers(service);
    const keys = await issueForLoad(home, settings);
    await using load = startRecordedLoad(async () => service.url, keys);
    await using events = startRecordedEvents(service.url, 4);
    await load.waitForAnswers(300);

    await primary.freeze();
    try {
      const backMs = await measureReturn(load, events, () =>
        standby.query('select pg_promote(true, 30)'),
      );
      t.diagnostic(`first write of each kind ${backMs.toFixed(0)} ms after the primary froze`);
      assert.ok(backMs < MAX_BACK_MS, `${backMs} ms`);
      await load.waitForAnswers(200);
      await events.stop();
      const ledger = await load.stop();

      const outcomes = [...ledger.outcomes, ...events.outcomes];
      assert.deepEqual(failuresOf(outcomes), [503]);
      assertUnavailable(outcomes, ['database_unavailable']);
      await verifyLedger(service.url, ledger);
      await verifyEvents(standby, events);
      assert.deepEqual(await service.stop(), { code: 0, signal: null });
      const changed = service.lines.filter((line) => line.includes('"database.host_changed"'));
      const workers = changed.map((line) => String(/"worker":(\d)/u.exec(line)?.[1]));
      assert.deepEqual(workers.sort(), ['1', '2']);
    } finally {
      await primary.kill();
    }
  },
);
