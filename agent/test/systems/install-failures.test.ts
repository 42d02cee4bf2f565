/** Failures of an installation, on a whole system. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { UNDONE_NOTE } from '#agent/cli/install-action.ts';
import { UNINTERRUPTIBLE_NOTE } from '#agent/cli/uninstall-action.ts';
import { paths } from '#agent/install/paths.ts';

import type { Cell } from './cells.ts';
import { checkOwnPage, checkWire } from './check-wire.ts';
import { expectSuccess } from './commands.ts';
import { INSTALL_FAILURES } from './install-failures.ts';
import { Installation } from './installation.ts';
import { findMissingRequirement } from './requirements.ts';
import { unpackPackages } from './packages.ts';
import { describeOutcome, renew } from './run-cell.ts';
import { compareSnapshots, takeSnapshot } from './snapshot.ts';
import type { WebServer } from './web-servers.ts';

const skip = findMissingRequirement() ?? false;
const packages = skip === false ? await unpackPackages() : null;
after(() => packages?.[Symbol.dispose]());

for (const failure of INSTALL_FAILURES) {
  test(`${failure.name}: reports it and changes nothing`, { skip }, async () => {
    await using installation = await prepare(failure.webServer);
    const { machine } = installation;
    await failure.arrange?.(installation, getPackages());
    const before = takeSnapshot(machine);
    const { args, without } = failure;
    const prefix = without === undefined ? [] : ['env', `--unset=${without}`];
    const outcome = await installation.install(getPackages().current, args, prefix);
    assert.equal(outcome.code, failure.code, describeOutcome(outcome));
    assert.match(outcome.stderr + outcome.stdout, failure.facts);
    assert.deepEqual(compareSnapshots(before, takeSnapshot(machine), { withTimes: false }), []);
    await checkOwnPage(installation);
  });
}

const KILLS = [
  // With all that it has started.
  { webServer: 'no web server', how: [] },
  // Alone: certbot goes on.
  { webServer: 'nginx with the domain over http', how: ['--foreground'] },
] as const;

for (const { webServer, how } of KILLS) {
  test(`an installation succeeds after several killed ones (${webServer})`, { skip }, async () => {
    await using installation = await prepare(webServer);
    const { machine } = installation;
    const { current } = getPackages();
    const before = takeSnapshot(machine);
    for (const seconds of ['0.5', '1', '2', '3', '4'])
      await installation.install(current, [], ['timeout', '--signal=KILL', ...how, seconds]);
    expectSuccess(await installation.install(current));
    await checkWire(installation, null);
    expectSuccess(await installation.uninstall());
    assert.deepEqual(compareSnapshots(before, takeSnapshot(machine), { withTimes: false }), []);
  });
}

/**
 * Sends SIGINT like a terminal: to the program and its children, repeatedly until they end.
 * @param afterSeconds from when it takes its lock, and with it signals
 */
function pressCtrlC(afterSeconds: number): readonly string[] {
  const wait = 'until pgrep -x flock >/dev/null; do sleep 0.05; done';
  const press = 'while kill -INT "-$!" 2>/dev/null; do sleep 0.05; done';
  return ['sh', '-c', `setsid "$@" & ${wait}; sleep ${afterSeconds}; ${press}; wait "$!"`, 'sh'];
}

for (const webServer of ['no web server', 'nginx with another site'] as const) {
  test(
    `repeated Ctrl-C undoes an installation, but not an uninstallation (${webServer})`,
    { skip },
    async () => {
      await using installation = await prepare(webServer);
      const { machine } = installation;
      const { current } = getPackages();
      const before = takeSnapshot(machine);
      const outcome = await installation.install(current, [], pressCtrlC(1.5));
      assert.equal(outcome.code, 130, describeOutcome(outcome));
      assert.ok(outcome.stderr.includes(UNDONE_NOTE), outcome.stderr);
      assert.deepEqual(compareSnapshots(before, takeSnapshot(machine), { withTimes: false }), []);
      expectSuccess(await installation.install(current));
      const removal = ['latchkey-agent', 'uninstall'];
      const removed = expectSuccess(await machine.attempt([...pressCtrlC(0), ...removal]));
      assert.ok(removed.stderr.includes(UNINTERRUPTIBLE_NOTE), removed.stderr);
      assert.deepEqual(compareSnapshots(before, takeSnapshot(machine), { withTimes: false }), []);
    },
  );
}

test('rejects the second of two simultaneous installations', { skip }, async () => {
  await using installation = await prepare('no web server');
  const { current } = getPackages();
  const outcomes = await Promise.all([
    installation.install(current),
    installation.install(current),
  ]);
  const [installed, refused] = outcomes.sort((one, other) => (one.code ?? -1) - (other.code ?? -1));
  assert.deepEqual(
    [installed?.code, refused?.code],
    [0, 1],
    outcomes.map(describeOutcome).join('\n'),
  );
  assert.match(refused?.stderr ?? '', /\banother installation\b/i);
  await checkWire(installation, null);
});

test(
  'a change from standalone to proxy mode renews certificates through nginx, and is uninstalled completely',
  { skip },
  async () => {
    await using direct = await prepare('nginx with another site');
    const { machine } = direct;
    const { current } = getPackages();
    await machine.succeed(['systemctl', 'stop', 'nginx.service']);
    const before = takeSnapshot(machine);
    expectSuccess(
      await direct.expecting({ mode: 'auto', expected: 'standalone' }).install(current),
    );
    await machine.succeed(['systemctl', 'start', 'nginx.service']);
    const proxied = direct.expecting({ mode: 'proxy', expected: 'proxy' });
    expectSuccess(await proxied.install(current));
    await checkWire(proxied, null);
    await renew(proxied, null);
    expectSuccess(await proxied.uninstall());
    await checkOwnPage(proxied);
    assert.deepEqual(compareSnapshots(before, takeSnapshot(machine), { withTimes: false }), []);
  },
);

test(
  'a change of the domain renews the new certificate, and removes everything of the old one',
  { skip },
  async () => {
    await using installation = await prepare('nginx with another site');
    const { machine } = installation;
    const { current } = getPackages();
    const before = takeSnapshot(machine);
    expectSuccess(await installation.install(current));
    const domain = 'next.example.test';
    expectSuccess(await installation.install(current, ['--domain', domain]));
    const renewals = await machine.succeed(['ls', '/etc/letsencrypt/renewal']);
    assert.equal(renewals.trim(), `${domain}.conf`);
    await machine.succeed(['certbot', 'renew', '--force-renewal', '--no-random-sleep-on-renew']);
    expectSuccess(await installation.uninstall());
    assert.deepEqual(compareSnapshots(before, takeSnapshot(machine), { withTimes: false }), []);
  },
);

test('a reinstallation updates the port of the agent in nginx', { skip }, async () => {
  await using installation = await prepare('nginx with the domain over https');
  const { machine } = installation;
  const before = takeSnapshot(machine);
  expectSuccess(await installation.install(getPackages().current));
  const move = `sed -i s/127.0.0.1:4096/127.0.0.1:5000/ ${paths.configuration} && systemctl restart latchkey-agent`;
  await machine.succeed(['sh', '-c', move]);
  assert.equal((await machine.attempt(['latchkey-agent', 'doctor'])).code, 1);
  expectSuccess(await installation.upgrade(getPackages().current));
  await checkWire(installation, null);
  await machine.succeed(['latchkey-agent', 'doctor']);
  expectSuccess(await installation.uninstall());
  assert.deepEqual(compareSnapshots(before, takeSnapshot(machine), { withTimes: false }), []);
});

test(
  'a change from proxy to standalone mode leaves nginx a valid configuration',
  { skip },
  async () => {
    await using proxied = await prepare('nginx with the domain over https');
    const { machine } = proxied;
    const before = takeSnapshot(machine);
    expectSuccess(await proxied.install(getPackages().current));
    const direct = proxied.expecting({ mode: 'auto', expected: 'standalone' });
    expectSuccess(await direct.install(getPackages().current, ['--force-standalone']));
    await machine.succeed(['systemctl', 'restart', 'nginx.service']);
    await checkWire(direct, null);
    await renew(direct, null);
    expectSuccess(await direct.uninstall());
    await checkOwnPage(direct);
    assert.deepEqual(compareSnapshots(before, takeSnapshot(machine), { withTimes: false }), []);
  },
);

async function prepare(webServer: WebServer): Promise<Installation> {
  const expected = webServer === 'no web server' ? 'standalone' : 'proxy';
  const cell: Cell = { release: 'bookworm', webServer, mode: 'auto', mutualTls: false, expected };
  return Installation.prepare(cell, getPackages());
}

function getPackages(): NonNullable<typeof packages> {
  if (packages === null) throw new Error('There are no packages.');
  return packages;
}
