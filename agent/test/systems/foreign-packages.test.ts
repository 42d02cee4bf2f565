/** Packages that others install beside an installation, on a whole system. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { paths } from '#agent/install/paths.ts';

import type { Cell } from './cells.ts';
import { expectSuccess } from './commands.ts';
import { Installation } from './installation.ts';
import { findMissingRequirement } from './requirements.ts';
import type { Machine } from './machine.ts';
import {
  CERTBOT_PACKAGES,
  FOREIGN_PACKAGE,
  listInstalled,
  offerPackages,
} from './package-repository.ts';
import { unpackPackages } from './packages.ts';
import { compareSnapshots, takeSnapshot } from './snapshot.ts';
import { describeOutcome } from './run-cell.ts';

const skip = findMissingRequirement() ?? false;
const packages = skip === false ? await unpackPackages() : null;
after(() => packages?.[Symbol.dispose]());

const ALL = [...CERTBOT_PACKAGES, FOREIGN_PACKAGE];
const SLOW_APT = 'DPkg::Pre-Invoke { "sleep 4"; };\n';
/** apt holds its lock while it runs this. */
const UNTIL_APT_WAITS = 'until pgrep -x sleep >/dev/null; do sleep 0.05; done';

for (const release of ['bookworm', 'trixie'] as const) {
  test(
    `an uninstallation keeps a package that another apt installed at the same time (${release})`,
    { skip },
    async () => {
      await using installation = await prepare(release);
      const { machine } = installation;
      const slow = `apt-get -o DPkg::Pre-Invoke::='sleep 4' install --yes ${FOREIGN_PACKAGE}`;
      await machine.succeed(['systemd-run', '--unit=other-apt', 'sh', '-c', slow]);
      await machine.succeed(['sh', '-c', UNTIL_APT_WAITS]);
      expectSuccess(await installation.install(getPackages().current));
      assert.deepEqual(await listInstalled(machine, ALL), [...ALL].sort());
      const plan = expectSuccess(
        await machine.attempt(['latchkey-agent', 'uninstall', '--dry-run']),
      );
      assert.match(plan.stdout, /^Remove .*\bpackages .*\bcertbot\b/m);
      assert.doesNotMatch(plan.stdout, new RegExp(FOREIGN_PACKAGE));
      expectSuccess(await installation.uninstall());
      assert.deepEqual(await listInstalled(machine, ALL), [FOREIGN_PACKAGE]);
    },
  );
}

test(
  'an uninstallation keeps a package that was installed after the installer was killed during apt',
  { skip },
  async () => {
    await using installation = await prepare('bookworm');
    const { machine } = installation;
    machine.write('/etc/apt/apt.conf.d/99slow', SLOW_APT);
    const killed = installation.install(getPackages().current);
    await machine.succeed(['sh', '-c', UNTIL_APT_WAITS]);
    // Its apt goes on.
    await machine.succeed(['pkill', '-KILL', '-f', 'latchkey-agent.* install$|main.js install$']);
    await killed;
    const install = ['apt-get', '-oDPkg::Lock::Timeout=60', 'install', '--yes', FOREIGN_PACKAGE];
    await machine.succeed(install);
    const { command } = getPackages().current;
    const plan = expectSuccess(await machine.attempt([command, 'uninstall', '--dry-run']));
    assert.match(plan.stdout, /^Remove .*\binterrupted .*\bpackages .*\bcertbot\b/m);
    assert.doesNotMatch(plan.stdout, new RegExp(FOREIGN_PACKAGE));
    expectSuccess(await machine.attempt([command, 'uninstall'], { timeoutMs: 60_000 }));
    assert.deepEqual(await listInstalled(machine, ALL), [FOREIGN_PACKAGE]);
  },
);

test('an uninstallation removes certbot that the installation added', { skip }, async () => {
  await using installation = await prepare('bookworm');
  const { machine } = installation;
  const before = takeSnapshot(machine);
  for (const seconds of ['3', '4', '5', '6']) {
    await installation.install(getPackages().current, [], ['timeout', '--signal=KILL', seconds]);
  }
  expectSuccess(await installation.install(getPackages().current));
  expectSuccess(await installation.uninstall());
  assert.deepEqual(await listInstalled(machine, ALL), []);
  assert.deepEqual(compareSnapshots(before, takeSnapshot(machine), { withTimes: false }), []);
});

test(
  'an uninstallation without its journal fails, and lists the remaining files',
  { skip },
  async () => {
    await using installation = await prepare('bookworm');
    const { machine } = installation;
    expectSuccess(await installation.install(getPackages().current));
    await machine.succeed(['rm', '-r', paths.journal]);
    const outcome = await installation.uninstall();
    assert.equal(outcome.code, 1, describeOutcome(outcome));
    assert.ok(outcome.stderr.includes(` ${paths.journal} `), outcome.stderr);
    assert.match(outcome.stderr, new RegExp(`^ {2}${paths.unit}$`, 'm'));
  },
);

async function prepare(release: Cell['release']): Promise<Installation> {
  const cell: Cell = {
    release,
    webServer: 'no web server',
    mode: 'auto',
    mutualTls: false,
    expected: 'standalone',
  };
  const installation = await Installation.prepare(cell, getPackages());
  await offer(installation.machine);
  return installation;
}

async function offer(machine: Machine): Promise<void> {
  try {
    await offerPackages(machine);
  } catch (error) {
    await machine[Symbol.asyncDispose]();
    throw error;
  }
}

function getPackages(): NonNullable<typeof packages> {
  if (packages === null) throw new Error('There are no packages.');
  return packages;
}
