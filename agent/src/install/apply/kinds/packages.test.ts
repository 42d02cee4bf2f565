import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FakeHost } from '../../../../test/fake-host.ts';
import type { Step } from '../../steps.ts';
import { applyPlan, undoUnfinished } from '../apply-plan.ts';
import { describeUndo, uninstall } from '../undo.ts';

const steps: readonly Step[] = [{ kind: 'packages', names: ['certbot'] }];
const order = { steps, installed: '{}\n', verify: async () => undefined };
const OURS = 'certbot\npython3-certbot\n';
const INSTALL = /^apt-get -oLatchkey-Agent::Run=\d+ install /u;

/** Runs an installation up to the end of its apt, and leaves the state of a `kill -9`. */
async function kill(host: FakeHost, atInstall: () => void = () => undefined): Promise<void> {
  host.intercept = (command) => {
    if (!INSTALL.test(command)) return null;
    host.intercept = () => null;
    atInstall();
    host.installPackages(command, ['certbot', 'python3-certbot']);
    throw new Error('killed');
  };
  const context = host.open();
  const progress = { ...context.progress, failed: () => assert.fail('killed') };
  await assert.rejects(applyPlan(order, { ...context, progress }));
}

/** Another apt installs a package while ours waits for its lock. */
function installBeside(host: FakeHost): void {
  host.intercept = (command) => {
    if (!INSTALL.test(command)) return null;
    host.intercept = () => null;
    host.installPackages('apt-get install memcached', ['memcached']);
    return null;
  };
}

test('an uninstallation keeps packages that another apt installed at the same time', async () => {
  using host = new FakeHost();
  installBeside(host);
  await applyPlan(order, host.open());
  assert.equal(host.read('/var/lib/packages'), `base\ncertbot\nmemcached\npython3-certbot\n`);
  await uninstall({ keepsConfiguration: false }, host.open());
  assert.equal(host.read('/var/lib/packages'), 'base\nmemcached\n');
});

test('a failed installation keeps packages that another apt installed', async () => {
  using host = new FakeHost();
  host.intercept = (command) => {
    if (!INSTALL.test(command)) return null;
    host.installPackages('apt-get install memcached', ['memcached']);
    return { code: 100, stderr: 'E: Could not get lock /var/lib/dpkg/lock-frontend.' };
  };
  await assert.rejects(applyPlan(order, host.open()), /Could not get lock/u);
  assert.equal(host.read('/var/lib/packages'), 'base\nmemcached\n');
  assert.equal(
    host.calls.some((each) => each.startsWith('apt-get purge')),
    false,
  );
});

test('the undo of a killed installation keeps packages that were installed after it', async () => {
  using host = new FakeHost();
  await kill(host);
  host.installPackages('apt install memcached', ['memcached']);
  await undoUnfinished(host.open());
  assert.equal(host.read('/var/lib/packages'), 'base\nmemcached\n');
});

test('the undo of a killed installation keeps a dependency that was installed again', async () => {
  using host = new FakeHost();
  await kill(host);
  host.installPackages('apt install python3-certbot', ['python3-certbot']);
  await undoUnfinished(host.open());
  assert.equal(host.read('/var/lib/packages'), 'base\npython3-certbot\n');
});

test('the undo of a killed installation keeps a dependency that was marked as manual since', async () => {
  using host = new FakeHost();
  await kill(host);
  host.intercept = (command) =>
    command === 'apt-mark showmanual' ? { stdout: `base\n${OURS}` } : null;
  await undoUnfinished(host.open());
  assert.equal(host.read('/var/lib/packages'), 'base\npython3-certbot\n');
});

test('the undo of a killed installation whose apt installed nothing removes nothing', async () => {
  using host = new FakeHost();
  host.intercept = (command) => {
    if (!INSTALL.test(command)) return null;
    throw new Error('killed');
  };
  const context = host.open();
  const progress = { ...context.progress, failed: () => assert.fail('killed') };
  await assert.rejects(applyPlan(order, { ...context, progress }));
  host.intercept = () => null;
  host.installPackages('apt install certbot', ['certbot', 'python3-certbot']);
  await undoUnfinished(host.open());
  assert.equal(host.read('/var/lib/packages'), `base\n${OURS}`);
});

test('waits for the lock of apt before it lists packages', async () => {
  using host = new FakeHost();
  await applyPlan(order, host.open());
  const queries = host.calls.filter((each) => /^(?:apt-get|dpkg-query) /u.test(each));
  // The first query checks whether the step is satisfied.
  const [, first = '', ...rest] = queries.map((each) => each.split(' ').slice(0, 2).join(' '));
  assert.equal(first, 'apt-get check');
  assert.ok(rest.includes('dpkg-query --show'));
});

test('keeps a dependency that was marked as manual', async () => {
  using host = new FakeHost();
  await applyPlan(order, host.open());
  host.intercept = (command) =>
    command === 'apt-mark showmanual' ? { stdout: `base\n${OURS}` } : null;
  await uninstall({ keepsConfiguration: false }, host.open());
  assert.equal(host.read('/var/lib/packages'), 'base\npython3-certbot\n');
});

test("removes certbot without purging it where its directory contains others' files", async () => {
  using host = new FakeHost();
  await applyPlan(order, host.open());
  const account = '/etc/letsencrypt/accounts/acme.test/dir/7/regr.json';
  host.write(account, '{}');
  await uninstall({ keepsConfiguration: false }, host.open());
  assert.equal(host.read('/var/lib/packages'), 'base\n');
  assert.equal(host.has(account), true);
});

test('keeps the configuration files of a package that was removed and not purged', async () => {
  using host = new FakeHost();
  host.intercept = (command) =>
    command.startsWith('dpkg-query') && !host.read('/var/lib/packages').includes('certbot')
      ? { stdout: 'base\tinstalled\ncertbot\tconfig-files\n' }
      : null;
  await applyPlan(order, host.open());
  await uninstall({ keepsConfiguration: false }, host.open());
  const removals = host.calls.filter((each) => /^apt-get (?:purge|remove) /u.test(each));
  assert.deepEqual(
    removals.map((each) => [each.split(' ')[1], each.split(' ').at(-1)]),
    [
      ['remove', 'certbot'],
      ['purge', 'python3-certbot'],
    ],
  );
});

test('names the packages of an interrupted run in a dry run of its undo', async () => {
  using host = new FakeHost();
  await kill(host);
  const changes = host.open().journal.unfinished ?? [];
  assert.deepEqual(
    changes.flatMap(({ entry }) => describeUndo(entry)),
    ['Remove what the interrupted run installed of the packages certbot, python3-certbot'],
  );
});
