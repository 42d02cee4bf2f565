import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';

import { startTestService } from '../../../../test/harness.ts';
import { activate } from '../../../../test/license-steps.ts';
import { DAY_MS, HOUR_MS, TEST_START } from '../../../../test/test-clock.ts';
import { listAuditEntries } from '../../audit/queries.ts';
import { toMachineKey } from '../../usage/machine-key.ts';
import { runRollups } from '../rollups/run-rollups.ts';
import { eraseInstall, eraseMachine } from './erase.ts';
import { exportInstall, isSharing, showInstall } from './read-install.ts';

const service = await startTestService();
const { context, clock, pool } = service;
const idle = new AbortController().signal;

beforeEach(async () => {
  clock.set(TEST_START);
  await pool.query(
    'truncate events, event_ids, event_name_days, usage_days, usage_first_days, usage_totals, rollup_marks',
  );
});

async function send(installId: string, names: readonly string[]): Promise<string[]> {
  const events = names.map((name) => ({
    event_id: randomUUID(),
    name,
    occurred_at: clock.now().toISOString(),
    props: { plan: 'pro' },
  }));
  const batch = { install_id: installId, session_id: randomUUID(), app_version: '1.0', events };
  const answer = await service.post('/api/v1/events', batch);
  assert.equal(answer.status, 200);
  return events.map(({ event_id: id }) => id);
}

async function beat(machineId: string): Promise<void> {
  const answer = await service.post('/api/v1/usage/heartbeat', {
    machine_id: machineId,
    machine_fingerprint: { machine_id: machineId },
  });
  assert.equal(answer.status, 200);
}

/** Activates a license, which then validates as this install. */
async function activateAs(
  installId: string,
): Promise<{ licenseKey: string; activationId: string }> {
  const { licenseKey } = await service.issue();
  const { activation_id: activationId } = await activate(service, licenseKey);
  await pool.query('update activations set install_id = $1 where id = $2', [
    installId,
    activationId,
  ]);
  return { licenseKey, activationId };
}

async function readNumbers(text: string): Promise<unknown[]> {
  const { rows } = await pool.query<unknown[]>({ text, rowMode: 'array' });
  return rows.map(([number]) => number);
}

async function exportText(installId: string): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of exportInstall(context, installId)) pieces.push(piece);
  return pieces.join('');
}

const BY = { actor: 'test', reason: 'asked for' };

test('shows the activations and the events of all days of one install', async () => {
  const [install, other] = [randomUUID(), randomUUID()];
  const { activationId } = await activateAs(install);
  await send(install, ['opened', 'saved', 'opened']);
  clock.advance(DAY_MS);
  await send(install, ['saved', 'saved']);
  await send(other, ['opened']);
  const overview = await showInstall(context, install);
  assert.deepEqual(
    { ...overview, activations: overview.activations.map((row) => row.activation_id) },
    {
      sharing: true,
      activations: [activationId],
      events: 5,
      firstDay: '2027-03-01',
      lastDay: '2027-03-02',
      names: [
        { name: 'saved', events: 3 },
        { name: 'opened', events: 2 },
      ],
    },
  );
});

test('exports all events and activations without keys and fingerprints', async () => {
  const [install, other] = [randomUUID(), randomUUID()];
  const { licenseKey } = await activateAs(install);
  const first = await send(install, ['opened', 'saved']);
  clock.advance(DAY_MS);
  const second = await send(install, ['opened']);
  await send(other, ['opened']);
  const text = await exportText(install);
  const held = JSON.parse(text);
  assert.deepEqual(Object.keys(held), ['install_id', 'exported_at', 'activations', 'events']);
  const ids = held.events.map((event: { event_id: string }) => event.event_id);
  assert.deepEqual(ids, [...first.toSorted(), ...second]);
  assert.deepEqual(Object.keys(held.events[0]), [
    'event_id',
    'received_at',
    'session_id',
    'name',
    'occurred_at',
    'client_occurred_at',
    'app_version',
    'os_version',
    'props',
  ]);
  assert.equal(held.activations.length, 1);
  assert.doesNotMatch(text, new RegExp(`${licenseKey}|components|digest|proof`, 'u'));
  assert.deepEqual(JSON.parse(await exportText(randomUUID())).events, []);
});

test('erases the events of one install on all days, keeps the ids, and updates reports', async () => {
  const [install, other] = [randomUUID(), randomUUID()];
  const sent = await send(install, ['opened', 'only_theirs']);
  await send(other, ['opened']);
  clock.advance(DAY_MS);
  await send(install, ['opened']);
  clock.advance(10 * DAY_MS);
  await runRollups(context, { signal: idle });
  assert.equal(await eraseInstall(context, { id: install, ...BY }), 3);
  assert.equal((await showInstall(context, install)).events, 0);
  assert.equal((await showInstall(context, other)).events, 1);
  const known = `select count(*) from event_ids where event_id in ('${sent.join(`', '`)}')`;
  assert.deepEqual(await readNumbers(known), [2]);
  await runRollups(context, { signal: idle });
  const { rows } = await pool.query(
    `select to_char(day, 'YYYY-MM-DD') as day, name, events from event_name_days`,
  );
  assert.deepEqual(rows, [{ day: '2027-03-01', name: 'opened', events: 1 }]);
  const [entry, ...more] = await listAuditEntries(pool, install);
  assert.deepEqual([entry?.action, entry?.reason, more], ['install.erase', 'asked for', []]);
  assert.equal(await eraseInstall(context, { id: install, ...BY }), 0);
});

test('erases a machine from days, weeks, months and cohorts', async () => {
  await beat('one');
  await beat('two');
  clock.advance(10 * DAY_MS);
  await beat('one');
  clock.advance(10 * DAY_MS);
  await runRollups(context, { signal: idle });
  const totals = `select machines from usage_totals order by period, starts`;
  assert.deepEqual(await readNumbers(totals), [2, 1, 2, 2, 1]);
  assert.equal(await eraseMachine(context, { id: 'one', ...BY }), 2);
  await runRollups(context, { signal: idle });
  assert.deepEqual(await readNumbers(totals), [1, 0, 1, 1, 0]);
  assert.deepEqual(await readNumbers('select machines from usage_retention'), [1]);
  assert.deepEqual(await readNumbers('select machine_key from usage_first_days'), [
    toMachineKey(context.vault, 'two'),
  ]);
  const [entry] = await listAuditEntries(pool, toMachineKey(context.vault, 'one'));
  assert.deepEqual([entry?.action, entry?.reason], ['machine.erase', 'asked for']);
});

/** A report of an activation; `at` in hours. */
interface SharingReport {
  readonly shares: boolean | null;
  readonly at?: number;
  readonly deactivated?: boolean;
}

async function storeReport(
  install: string,
  { shares, at = 0, deactivated = false }: SharingReport,
): Promise<void> {
  const reportedAt = shares === null ? null : new Date(TEST_START.getTime() + at * HOUR_MS);
  await pool.query(
    `insert into activations (license_id, id, components, machine_digest, install_id, usage_sharing,
                              usage_sharing_reported_at, versions_reported_at, activated_at, deactivated_at, last_validated_at)
     values (gen_random_uuid(), gen_random_uuid(), '{}', '', $1, $2, $3, $5, $5, $4, $5)`,
    [install, shares, reportedAt, deactivated ? TEST_START : null, TEST_START],
  );
}

test('applies the newest sharing report of an install to its events, and shows it', async () => {
  const [yes, no, silent] = [{ shares: true }, { shares: false }, { shares: null }];
  const cases: readonly [boolean, readonly SharingReport[]][] = [
    [true, []],
    [true, [yes]],
    [false, [no]],
    [true, [silent]],
    [false, [yes, no]],
    [true, [no, { ...yes, at: 1 }]],
    [false, [yes, { ...no, at: 1 }]],
    [true, [{ ...no, at: 2, deactivated: true }, yes]],
    [false, [{ ...no, deactivated: true }]],
    [false, [{ ...no, deactivated: true }, silent]],
    [
      true,
      [
        { ...no, deactivated: true },
        { ...yes, at: 1, deactivated: true },
      ],
    ],
  ];
  for (const [expected, reports] of cases) {
    const install = randomUUID();
    for (const report of reports) await storeReport(install, report);
    await send(install, ['opened']);
    const { activations, events, sharing } = await showInstall(context, install);
    assert.deepEqual([sharing, events], [expected, expected ? 1 : 0], JSON.stringify(reports));
    assert.equal(isSharing(activations), sharing);
  }
});
