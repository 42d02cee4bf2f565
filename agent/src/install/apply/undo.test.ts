import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';

import { FakeHost, OTHER_PATH, OTHER_SITE } from '../../../test/fake-host.ts';
import { paths } from '../paths.ts';
import { everything, request } from './apply-plan.fixture.ts';
import { applyPlan } from './apply-plan.ts';
import { uninstall } from './undo.ts';

describe('an uninstallation', () => {
  test('leaves nothing', async () => {
    using host = new FakeHost();
    const before = host.snapshot();
    await applyPlan(request, host.open());
    await uninstall(everything, host.open());
    assert.deepEqual([host.snapshot(), host.reports], [before, []]);
  });

  test('leaves nothing of a certbot that was installed but never used', async () => {
    using host = new FakeHost();
    host.write('/var/lib/packages', 'base\ncertbot\n');
    host.write('/etc/letsencrypt/cli.ini', 'max-log-backups = 0\n');
    const before = host.snapshot();
    await applyPlan(request, host.open());
    await uninstall(everything, host.open());
    assert.deepEqual(host.snapshot(), before);
  });

  test('keeps certbot for the certificates of others', async () => {
    using host = new FakeHost();
    await applyPlan(request, host.open());
    host.write('/etc/letsencrypt/renewal/other.example.test.conf', 'authenticator = nginx\n');
    await uninstall(everything, host.open());
    const accounts = '/etc/letsencrypt/accounts/acme.test/dir/1/regr.json';
    assert.deepEqual(
      [accounts, '/etc/letsencrypt/live/monitor.example.test'].map((path) => host.has(path)),
      [true, false],
    );
    assert.equal(host.read('/var/lib/packages'), 'base\ncertbot\npython3-certbot\n');
    assert.deepEqual(host.reports, [
      'certbot and its dependencies are kept, because it renews other.example.test.',
    ]);
  });

  test('keeps the changes of others, and removes the lines of the agent', async () => {
    using host = new FakeHost();
    await applyPlan(request, host.open());
    const site = host.read(OTHER_PATH);
    host.write(OTHER_PATH, `# mine\n${site}`);
    host.write(paths.unit, '[Service]\nNice=5\n');
    await uninstall(everything, host.open());
    assert.equal(host.read(OTHER_PATH), `# mine\n${OTHER_SITE}`);
    assert.equal(host.read(paths.unit), '[Service]\nNice=5\n');
    assert.deepEqual(host.reports, [
      `${paths.unit} is left as it is, because others changed it.`,
      `${OTHER_PATH} was changed by others: only the lines of the agent are removed.`,
    ]);
  });

  test('removes edited files of its own and the includes that load them', async () => {
    using host = new FakeHost();
    const before = host.snapshot();
    const block = 'server {\n  server_name pasted.example.test;\n}\n';
    const [pasted, include] = ['/etc/nginx/pasted.conf', `  include ${paths.nginxRoute};\n}`];
    await applyPlan(request, host.open());
    host.write(paths.nginxRoute, `# mine\n${host.read(paths.nginxRoute)}`);
    host.write(pasted, block.replace('}', include));
    await uninstall(everything, host.open());
    assert.equal(host.read(pasted), block);
    rmSync(host.at(pasted));
    assert.deepEqual(host.snapshot(), before);
    assert.deepEqual(host.reports, [
      `${paths.nginxRoute} is restored although others changed it: nginx would not start with it.`,
      `${pasted} was changed by others: only the lines of the agent are removed.`,
    ]);
  });

  test('removes its lines from a file that its owner has renamed', async () => {
    using host = new FakeHost();
    const [site, renamed] = [OTHER_PATH, '/etc/nginx/conf.d/renamed.conf'];
    const text = host.read(site);
    await applyPlan(request, host.open());
    mkdirSync(host.at('/etc/nginx/conf.d'));
    renameSync(host.at(site), host.at(renamed));
    await uninstall(everything, host.open());
    assert.deepEqual([host.has(site), host.read(renamed)], [false, text]);
    assert.deepEqual(host.reports, [
      `${site} is not restored, because others removed it.`,
      `${renamed} was changed by others: only the lines of the agent are removed.`,
    ]);
    const removed = host.snapshot();
    await uninstall(everything, host.open());
    assert.deepEqual(host.snapshot(), removed);
  });

  test('keeps the configuration on request, and removes it the next time', async () => {
    using host = new FakeHost();
    const before = host.snapshot();
    await applyPlan(request, host.open());
    await uninstall({ keepsConfiguration: true }, host.open());
    assert.deepEqual(
      [paths.configuration, paths.certificateKey, paths.authority].map((path) => host.has(path)),
      [true, true, true],
    );
    assert.deepEqual([host.has(paths.program), host.has(paths.unit)], [false, false]);
    await uninstall(everything, host.open());
    assert.deepEqual(host.snapshot(), before);
  });

  test('keeps packages on which others depend', async () => {
    using host = new FakeHost();
    await applyPlan(request, host.open());
    host.intercept = (command) => {
      const isAsked = command.includes('--simulate') && / certbot(?: |$)/u.test(command);
      return isAsked ? { stdout: 'Purg certbot [1]\nPurg theirs [1]\n' } : null;
    };
    await uninstall(everything, host.open());
    assert.equal(host.read('/var/lib/packages'), 'base\ncertbot\n');
    assert.deepEqual(host.reports, ['Kept packages on which others depend: certbot.']);
  });

  test('continues where it was interrupted', async () => {
    using host = new FakeHost();
    const before = host.snapshot();
    await applyPlan(request, host.open());
    host.intercept = (command) => (command.startsWith('userdel') ? { code: 1 } : null);
    await assert.rejects(uninstall(everything, host.open()), /The user latchkey-agent/u);
    host.intercept = () => null;
    assert.deepEqual(
      host.open().journal.done.map(({ kind }) => kind),
      ['user', 'program', 'link'],
    );
    assert.ok(host.has(`${paths.program}/bin/latchkey-agent`), 'uninstall can run again');
    await uninstall(everything, host.open());
    assert.deepEqual(host.snapshot(), before);
  });

  test('does not restore a site that its owner has removed', async () => {
    using host = new FakeHost();
    await applyPlan(request, host.open());
    rmSync(host.at(OTHER_PATH));
    rmSync(host.at('/etc/nginx/sites-enabled/other'));
    await uninstall(everything, host.open());
    assert.equal(host.has(OTHER_PATH), false);
    assert.deepEqual(host.reports, [`${OTHER_PATH} is not restored, because others removed it.`]);
  });

  test('removes its lines from a file in another encoding', async () => {
    using host = new FakeHost();
    await applyPlan(request, host.open());
    const path = host.at(OTHER_PATH);
    const site = readFileSync(path, 'latin1');
    writeFileSync(path, `# caf\u00E9\n${site}`, 'latin1');
    await uninstall(everything, host.open());
    assert.equal(readFileSync(path, 'latin1'), `# caf\u00E9\n${OTHER_SITE}`);
  });
});
