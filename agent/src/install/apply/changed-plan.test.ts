import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { describe, test } from 'node:test';

import { FakeHost, OTHER_PATH } from '../../../test/fake-host.ts';
import { paths } from '../paths.ts';
import { everything, request, steps, withNewerPackage } from './apply-plan.fixture.ts';
import { applyPlan } from './apply-plan.ts';
import { uninstall } from './undo.ts';

describe('another plan', () => {
  const fewer = steps.filter(
    (step) => step.kind !== 'edit' && !(step.kind === 'file' && step.path === paths.nginxRoute),
  );

  test('undoes steps that it no longer contains, and reloads nginx', async () => {
    using host = new FakeHost();
    const site = host.read(OTHER_PATH);
    await applyPlan(request, host.open());
    const sites: string[] = [];
    host.intercept = (command) => {
      if (command === 'systemctl reload nginx') sites.push(host.read(OTHER_PATH));
      return null;
    };
    assert.equal(await applyPlan({ ...request, steps: fewer }, host.open()), true);
    assert.deepEqual(sites, [site]);
    assert.equal(host.read(OTHER_PATH), site);
    assert.equal(host.has(paths.nginxRoute), false);
  });

  test('does not report a file as restored that others have changed', async () => {
    using host = new FakeHost();
    await applyPlan(request, host.open());
    host.write(paths.renewalHook, '#!/bin/sh\n# mine\n');
    host.progress.length = 0;
    const others = steps.filter((step) => !('path' in step) || step.path !== paths.renewalHook);
    const again = others.filter(({ kind }) => kind !== 'edit');
    await applyPlan({ ...request, steps: again }, host.open());
    const lines = host.progress.filter((line) => line.includes(paths.renewalHook));
    assert.deepEqual(lines, [
      `done: No longer needed: ${paths.renewalHook} is left as it is, because others changed it.`,
    ]);
  });

  test('removes its lines from a renamed file, and restores them when it fails', async () => {
    using host = new FakeHost();
    const [site, renamed] = [OTHER_PATH, '/etc/nginx/renamed.conf'];
    const text = host.read(site);
    await applyPlan(request, host.open());
    renameSync(host.at(site), host.at(renamed));
    const edited = host.snapshot();
    const broken = { ...request, steps: fewer, verify: () => Promise.reject(new Error('no')) };
    await assert.rejects(applyPlan(broken, host.open()), { message: 'no' });
    assert.deepEqual(host.snapshot(), edited);
    await applyPlan({ ...request, steps: fewer }, host.open());
    assert.deepEqual([host.has(site), host.read(renamed)], [false, text]);
  });

  test('restores a pasted line when it fails', async () => {
    using host = new FakeHost();
    await applyPlan(request, host.open());
    host.write('/etc/nginx/pasted.conf', `server {\n  include ${paths.nginxRoute};\n}\n`);
    const before = host.snapshot();
    const broken = { ...request, steps: fewer, verify: () => Promise.reject(new Error('no')) };
    await assert.rejects(applyPlan(broken, host.open()), { message: 'no' });
    assert.deepEqual(host.snapshot(), before);
  });

  test('removes its line from the file of another domain when it adds one elsewhere', async () => {
    using host = new FakeHost();
    const [site, other] = [OTHER_PATH, '/etc/nginx/sites-enabled/next'];
    const text = host.read(site);
    host.write(other, text);
    await applyPlan(request, host.open());
    const moved = steps.map((step) => (step.kind === 'edit' ? { ...step, path: other } : step));
    await applyPlan({ ...request, steps: moved }, host.open());
    assert.equal(host.read(site), text);
    assert.match(host.read(other), /latchkey-agent/u);
  });

  test('keeps its line in a file that it names by another path', async () => {
    using host = new FakeHost();
    const before = host.snapshot();
    await applyPlan(request, host.open());
    const edited = host.snapshot();
    const renamed = steps.map((step) =>
      step.kind === 'edit' ? { ...step, path: OTHER_PATH, before: step.after } : step,
    );
    await applyPlan({ ...request, steps: renamed }, host.open());
    assert.deepEqual(host.snapshot(), edited);
    await uninstall(everything, host.open());
    assert.deepEqual(host.snapshot(), before);
  });

  test('keeps ports open until the agent is reached through a proxy', async () => {
    using host = new FakeHost();
    const standalone = fewer.filter(({ kind }) => kind !== 'nginx');
    const upgrade = standalone.filter(({ kind }) => kind !== 'firewall');
    await applyPlan({ ...request, steps: standalone }, host.open());
    await applyPlan({ ...request, steps: upgrade }, host.open());
    assert.equal(host.read('/var/lib/rules'), 'ufw allow 4096/tcp\n');
    const proxied = steps.filter(({ kind }) => kind !== 'firewall');
    await applyPlan({ ...request, steps: proxied }, host.open());
    assert.equal(host.read('/var/lib/rules'), '');
  });

  test('that fails restores the previous installation', async () => {
    using host = new FakeHost();
    const untouched = host.snapshot();
    await applyPlan(request, host.open());
    const before = host.snapshot();
    const changed = withNewerPackage(fewer);
    const verify = async () => {
      assert.match(host.read(`${paths.program}/README.txt`), /2\.0\.0/u);
      throw new Error('no answer');
    };
    await assert.rejects(applyPlan({ steps: changed, installed: 'new', verify }, host.open()));
    assert.deepEqual(host.snapshot(), before);
    await uninstall(everything, host.open());
    assert.deepEqual(host.snapshot(), untouched);
  });

  test('that is newer replaces the program, and keeps the edited configuration', async () => {
    using host = new FakeHost();
    const untouched = host.snapshot();
    await applyPlan(request, host.open());
    host.write(paths.configuration, 'listen: 127.0.0.1:4096\n');
    const changed = withNewerPackage(steps.filter(({ kind }) => kind !== 'edit'));
    host.calls.length = 0;
    await applyPlan({ ...request, steps: changed }, host.open());
    assert.equal(host.read(`${paths.program}/README.txt`), '2.0.0');
    assert.equal(host.read(paths.configuration), 'listen: 127.0.0.1:4096\n');
    assert.ok(host.calls.includes('systemctl restart --no-block latchkey-agent.service'));
    await uninstall(everything, host.open());
    assert.deepEqual(host.snapshot(), untouched);
  });
});
