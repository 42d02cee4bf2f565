import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { runLatchkey } from '../command-line.ts';
import { eventually } from '../eventually.ts';
import { lacksPostgres } from '../installed-postgres.ts';
import { startReplicatedPostgres, type ReplicatedServer } from '../replicated-postgres.ts';
import {
  createServiceHome,
  type ServiceHome,
  type ServiceProcess,
  type Settings,
} from '../service-process.ts';
import { assertUnavailable, failuresOf, issueForLoad } from './loaded-service.ts';
import { measureReturn, verifyEvents } from './failover-steps.ts';
import { startRecordedEvents, type RecordedEvents } from './recorded-events.ts';
import { startRecordedLoad, type RecordedLoad } from './recorded-load.ts';
import { verifyLedger } from './verify-ledger.ts';

/** From the promotion of the standby to the first acknowledged write. */
const MAX_BACK_MS = 5_000;

const EVENT_CLIENTS = 4;

test(
  'goes on at the promoted standby after the primary was killed, and loses no acknowledged change',
  { skip: lacksPostgres },
  async (t) => {
    await using postgres = await startReplicatedPostgres();
    const { primary, standby } = postgres;
    await primary.query('create database latchkey');
    await using home = await createServiceHome();
    const settings = {
      DATABASE_URL: `${postgres.urlOf('latchkey')}?target_session_attrs=read-write`,
      LATCHKEY_SECRET: 'the secret of a service whose database fails over',
      LATCHKEY_EVENTS_RATE: '100000/100000',
    };
    const service = await home.start(settings);
    const keys = await issueForLoad(home, settings);
    assert.deepEqual(await examineHosts(home, settings), [
      `database: PostgreSQL at ${primary.host} answers.`,
      `database hosts: ${primary.host}, ${standby.host}: a primary, and standbys that answer.`,
    ]);
    await using load = startRecordedLoad(async () => service.url, keys);
    await using events = startRecordedEvents(service.url, EVENT_CLIENTS);
    await load.waitForAnswers(300);

    await primary.kill();
    await waitForRefusals(load, events);
    const backMs = await measureReturn(load, events, () =>
      standby.query('select pg_promote(true, 30)'),
    );
    t.diagnostic(`first write ${backMs.toFixed(0)} ms after the start of the promotion`);
    assert.ok(backMs < MAX_BACK_MS, `${backMs} ms`);
    await load.waitForAnswers(200);
    await events.stop();
    const ledger = await load.stop();

    const outcomes = [...ledger.outcomes, ...events.outcomes];
    assert.deepEqual(failuresOf(outcomes), [503]);
    assertUnavailable(outcomes, ['database_unavailable']);
    await verifyLedger(service.url, ledger);
    await verifyEvents(standby, events);
    assertHostChanged(service, primary, standby);
    assert.deepEqual(await service.stop(), { code: 0, signal: null });

    await primary.start();
    assert.deepEqual(await examineHosts(home, settings), [
      `database: PostgreSQL at ${standby.host} answers.`,
      'database.second_primary',
      'database.replication_asynchronous',
    ]);
  },
);

const Diagnosis = Type.Object({
  findings: Type.Array(
    Type.Object({
      check: Type.String(),
      code: Type.Optional(Type.String()),
      symptom: Type.String(),
    }),
  ),
});

/** Returns what a new process finds out about the hosts: the codes of problems, and the text of what is right. */
async function examineHosts(home: ServiceHome, settings: Settings): Promise<string[]> {
  const { directory } = home;
  const { stdout } = await runLatchkey(['doctor', '--json'], { directory, settings });
  const { findings } = Parse(Diagnosis, JSON.parse(stdout));
  return findings
    .filter(({ check }) => check.startsWith('database'))
    .map(({ check, code, symptom }) => code ?? `${check}: ${withoutVersion(symptom)}`);
}

function withoutVersion(text: string): string {
  return text.replace(/(PostgreSQL) \d\S*(?: \([^)]*\))?/u, '$1');
}

function isRefused({ status }: { readonly status: number }): boolean {
  return status === 503;
}

/** Waits until a licensing client and an events client have been refused. Each repeats the request that was refused. */
async function waitForRefusals(load: RecordedLoad, events: RecordedEvents): Promise<void> {
  await eventually(() => load.ledger.outcomes.some(isRefused) && events.outcomes.some(isRefused));
}

function assertHostChanged(
  { lines }: ServiceProcess,
  primary: ReplicatedServer,
  standby: ReplicatedServer,
): void {
  const changes = lines.filter((line) => line.includes('"database.host_changed"'));
  assert.equal(changes.length, 1, changes.join('\n'));
  assert.match(
    changes[0] ?? '',
    new RegExp(`"host":"${standby.host}","previous":"${primary.host}"`),
  );
}
