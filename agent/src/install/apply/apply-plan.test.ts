import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import { FakeHost, listEveryStep, createPackage } from '../../../test/fake-host.ts';
import { paths } from '../paths.ts';
import type { RunProgram } from '../../system/run-program.ts';
import { applyPlan, undoUnfinished } from './apply-plan.ts';
import { uninstall } from './undo.ts';

const folder = mkdtempSync(join(tmpdir(), 'latchkey-agent-package-'));
after(() => rmSync(folder, { recursive: true }));
const steps = listEveryStep(createPackage(folder, '1.0.0'));
const installed = '{"version":"1.0.0"}\n';
const order = { steps, installed, verify: async () => undefined };
/** Programs whose exit code is a result and not a failure. */
const QUERIES = /is-active|is-enabled|pgrep|nginx -v/u;
const everything = { keepsConfiguration: false };

describe('an installation', () => {
  test('applies every step in order, and keeps a journal', async () => {
    using host = new FakeHost();
    assert.equal(await applyPlan(order, host.open()), true);
    assert.deepEqual(
      host.progress.map((line) => line.split(':')[0]),
      Array.from({ length: steps.length + 1 }, () => 'done'),
    );
    assert.equal(host.read(`${paths.journal}/installed.json`), installed);
    const { done, unfinished } = host.open().journal;
    assert.deepEqual(
      [done.map(({ kind }) => kind), unfinished],
      [steps.map(({ kind }) => kind), null],
    );
    assert.match(host.read('/etc/nginx/sites-available/other'), /latchkey-agent/u);
    assert.equal(host.snapshot()['etc/nginx/sites-enabled/other'], 'link ../sites-available/other');
  });

  test('changes nothing when applied again', async () => {
    using host = new FakeHost();
    await applyPlan(order, host.open());
    const [before, times] = [host.snapshot(), host.times()];
    // The next plan finds the line in the file of nginx.
    const again = steps.map((step) =>
      step.kind === 'edit' ? { ...step, before: step.after } : step,
    );
    assert.equal(await applyPlan({ ...order, steps: again }, host.open()), false);
    assert.deepEqual([host.snapshot(), host.times()], [before, times]);
  });

  test('is undone from any step', async () => {
    using host = new FakeHost();
    const before = host.snapshot();
    for (let stop = 1; stop <= steps.length + 1; stop += 1) {
      let count = 0;
      host.checkInterruption = () => {
        count += 1;
        if (count >= stop) throw new Error('stopped');
      };
      await assert.rejects(applyPlan(order, host.open()), { message: 'stopped' });
      assert.deepEqual(host.snapshot(), before, `stopped before step ${stop}`);
    }
  });

  test('is undone whichever program fails', async () => {
    using host = new FakeHost();
    const before = host.snapshot();
    await applyPlan(order, host.open());
    await uninstall(everything, host.open());
    const programs = host.calls.length;
    let failed = 0;
    for (let failing = 1; failing <= programs; failing += 1) {
      host.calls.length = 0;
      host.intercept = (command, count) =>
        count === failing && !QUERIES.test(command) ? { code: 1, stderr: 'not now' } : null;
      const end = await applyPlan(order, host.open()).catch((error: unknown) => error);
      host.intercept = () => null;
      if (end instanceof Error) {
        failed += 1;
        assert.deepEqual(host.snapshot(), before, `${host.calls[failing - 1]} failed`);
      } else await uninstall(everything, host.open());
      assert.deepEqual(host.snapshot(), before);
    }
    assert.ok(failed > 8, `${failed} failures`);
  });

  test('is interrupted at any step, but its undo is not', async () => {
    using host = new FakeHost();
    const ownSessions: boolean[] = [];
    const context = host.open();
    const runProgram: RunProgram = async (program, args, options) => {
      ownSessions.push(options?.hasOwnSession === true);
      return context.runProgram(program, args, options);
    };
    let applied = 0;
    const verify = async () => {
      applied = ownSessions.length;
      throw new Error('no');
    };
    await assert.rejects(applyPlan({ ...order, verify }, { ...context, runProgram }));
    assert.ok(
      applied > 8 && ownSessions.length > applied + 8,
      `${applied} of ${ownSessions.length}`,
    );
    assert.equal(ownSessions.lastIndexOf(false), applied - 1);
    assert.equal(ownSessions.indexOf(true), applied);
  });

  test('is undone when its verification fails', async () => {
    using host = new FakeHost();
    const before = host.snapshot();
    const broken = { ...order, verify: () => Promise.reject(new Error('no answer')) };
    await assert.rejects(applyPlan(broken, host.open()), /no answer/u);
    assert.deepEqual(host.snapshot(), before);
  });

  test('leaves nothing when the journal cannot be written', async () => {
    using host = new FakeHost();
    const before = host.snapshot();
    const context = host.open();
    context.journal.begin = () => {
      throw new Error('full');
    };
    const edit = steps.filter(({ kind }) => kind === 'edit');
    await assert.rejects(applyPlan({ ...order, steps: edit }, context), { message: 'full' });
    assert.deepEqual(host.snapshot(), before);
  });

  test('does not restore the program of a run that was killed at its end', async () => {
    using host = new FakeHost();
    await applyPlan(order, host.open());
    const before = host.snapshot();
    createPackage(host.at('/usr/lib/.latchkey-agent-old'), '0.9.0');
    assert.equal(await undoUnfinished(host.open()), false);
    assert.deepEqual(host.snapshot(), before);
  });

  test('continues an undo after a failed step, and reports it', async () => {
    using host = new FakeHost();
    const before = host.snapshot();
    host.intercept = (command) => {
      if (command.startsWith('ufw allow')) return { code: 1, stderr: 'no firewall' };
      return command.startsWith('userdel') ? { code: 1, stderr: 'user is logged in' } : null;
    };
    await assert.rejects(applyPlan(order, host.open()), /Not undone \(user .*user is logged in/su);
    assert.equal(host.has(paths.configuration), false);
    assert.match(host.read('/etc/passwd'), /latchkey-agent/u);
    host.intercept = () => null;
    assert.equal(await undoUnfinished(host.open()), true);
    assert.deepEqual(host.snapshot(), before);
  });
});

test('waits for a certbot that outlived its installer before it removes the certificate', async () => {
  using host = new FakeHost();
  const before = host.snapshot();
  let asked = 0;
  host.intercept = (command) => {
    if (command.startsWith('certbot certonly')) return { code: null, fault: 'It was cut off.' };
    if (command !== 'certbot certificates') return null;
    asked += 1;
    if (asked < 3) return { code: 1, stderr: 'Another instance of Certbot is already running.' };
    host.write('/etc/letsencrypt/live/monitor.example.test/fullchain.pem', 'late');
    return null;
  };
  await assert.rejects(applyPlan(order, host.open()), /It was cut off/u);
  assert.equal(asked, 3);
  assert.deepEqual(host.snapshot(), before);
});

describe('another plan', () => {
  const fewer = steps.filter(
    (step) => step.kind !== 'edit' && !(step.kind === 'file' && step.path === paths.nginxRoute),
  );

  test('undoes steps that it no longer contains, and reloads nginx', async () => {
    using host = new FakeHost();
    const site = host.read('/etc/nginx/sites-available/other');
    await applyPlan(order, host.open());
    const sites: string[] = [];
    host.intercept = (command) => {
      if (command === 'systemctl reload nginx')
        sites.push(host.read('/etc/nginx/sites-available/other'));
      return null;
    };
    assert.equal(await applyPlan({ ...order, steps: fewer }, host.open()), true);
    assert.deepEqual(sites, [site]);
    assert.equal(host.read('/etc/nginx/sites-available/other'), site);
    assert.equal(host.has(paths.nginxRoute), false);
  });

  test('does not report a file as restored that others have changed', async () => {
    using host = new FakeHost();
    await applyPlan(order, host.open());
    host.write(paths.renewalHook, '#!/bin/sh\n# mine\n');
    host.progress.length = 0;
    const others = steps.filter((step) => !('path' in step) || step.path !== paths.renewalHook);
    const again = others.filter(({ kind }) => kind !== 'edit');
    await applyPlan({ ...order, steps: again }, host.open());
    const lines = host.progress.filter((line) => line.includes(paths.renewalHook));
    assert.deepEqual(lines, [
      `done: No longer needed: ${paths.renewalHook} is left as it is, because others changed it.`,
    ]);
  });

  test('removes its lines from a renamed file, and restores them when it fails', async () => {
    using host = new FakeHost();
    const [site, renamed] = ['/etc/nginx/sites-available/other', '/etc/nginx/renamed.conf'];
    const text = host.read(site);
    await applyPlan(order, host.open());
    renameSync(host.at(site), host.at(renamed));
    const edited = host.snapshot();
    const broken = { ...order, steps: fewer, verify: () => Promise.reject(new Error('no')) };
    await assert.rejects(applyPlan(broken, host.open()), { message: 'no' });
    assert.deepEqual(host.snapshot(), edited);
    await applyPlan({ ...order, steps: fewer }, host.open());
    assert.deepEqual([host.has(site), host.read(renamed)], [false, text]);
  });

  test('restores a pasted line when it fails', async () => {
    using host = new FakeHost();
    await applyPlan(order, host.open());
    host.write('/etc/nginx/pasted.conf', `server {\n  include ${paths.nginxRoute};\n}\n`);
    const before = host.snapshot();
    const broken = { ...order, steps: fewer, verify: () => Promise.reject(new Error('no')) };
    await assert.rejects(applyPlan(broken, host.open()), { message: 'no' });
    assert.deepEqual(host.snapshot(), before);
  });

  test('removes its line from the file of another domain when it adds one elsewhere', async () => {
    using host = new FakeHost();
    const [site, other] = ['/etc/nginx/sites-available/other', '/etc/nginx/sites-enabled/next'];
    const text = host.read(site);
    host.write(other, text);
    await applyPlan(order, host.open());
    const moved = steps.map((step) => (step.kind === 'edit' ? { ...step, path: other } : step));
    await applyPlan({ ...order, steps: moved }, host.open());
    assert.equal(host.read(site), text);
    assert.match(host.read(other), /latchkey-agent/u);
  });

  test('keeps its line in a file that it names by another path', async () => {
    using host = new FakeHost();
    const before = host.snapshot();
    await applyPlan(order, host.open());
    const edited = host.snapshot();
    const renamed = steps.map((step) =>
      step.kind === 'edit'
        ? { ...step, path: '/etc/nginx/sites-available/other', before: step.after }
        : step,
    );
    await applyPlan({ ...order, steps: renamed }, host.open());
    assert.deepEqual(host.snapshot(), edited);
    await uninstall(everything, host.open());
    assert.deepEqual(host.snapshot(), before);
  });

  test('keeps ports open until the agent is reached through a proxy', async () => {
    using host = new FakeHost();
    const standalone = fewer.filter(({ kind }) => kind !== 'nginx');
    const upgrade = standalone.filter(({ kind }) => kind !== 'firewall');
    await applyPlan({ ...order, steps: standalone }, host.open());
    await applyPlan({ ...order, steps: upgrade }, host.open());
    assert.equal(host.read('/var/lib/rules'), 'ufw allow 4096/tcp\n');
    const proxied = steps.filter(({ kind }) => kind !== 'firewall');
    await applyPlan({ ...order, steps: proxied }, host.open());
    assert.equal(host.read('/var/lib/rules'), '');
  });

  test('that fails restores the previous installation', async () => {
    using host = new FakeHost();
    const untouched = host.snapshot();
    await applyPlan(order, host.open());
    const before = host.snapshot();
    const newer = createPackage(mkdtempSync(join(tmpdir(), 'latchkey-agent-package-')), '2.0.0');
    const changed = fewer.map((step) =>
      step.kind === 'program' ? { ...step, from: newer } : step,
    );
    const verify = async () => {
      assert.match(host.read(`${paths.program}/README.txt`), /2\.0\.0/u);
      throw new Error('no answer');
    };
    await assert.rejects(applyPlan({ steps: changed, installed: 'new', verify }, host.open()));
    assert.deepEqual(host.snapshot(), before);
    await uninstall(everything, host.open());
    assert.deepEqual(host.snapshot(), untouched);
    rmSync(newer, { recursive: true });
  });

  test('that is newer replaces the program, and keeps the edited configuration', async () => {
    using host = new FakeHost();
    const untouched = host.snapshot();
    await applyPlan(order, host.open());
    host.write(paths.configuration, 'listen: 127.0.0.1:4096\n');
    const newer = createPackage(mkdtempSync(join(tmpdir(), 'latchkey-agent-package-')), '2.0.0');
    const changed = steps
      .filter(({ kind }) => kind !== 'edit')
      .map((step) => (step.kind === 'program' ? { ...step, from: newer } : step));
    host.calls.length = 0;
    await applyPlan({ ...order, steps: changed }, host.open());
    assert.equal(host.read(`${paths.program}/README.txt`), '2.0.0');
    assert.equal(host.read(paths.configuration), 'listen: 127.0.0.1:4096\n');
    assert.ok(host.calls.includes('systemctl restart --no-block latchkey-agent.service'));
    await uninstall(everything, host.open());
    assert.deepEqual(host.snapshot(), untouched);
    rmSync(newer, { recursive: true });
  });
});

describe('an uninstallation', () => {
  test('leaves nothing', async () => {
    using host = new FakeHost();
    const before = host.snapshot();
    await applyPlan(order, host.open());
    await uninstall(everything, host.open());
    assert.deepEqual([host.snapshot(), host.reports], [before, []]);
  });

  test('leaves nothing of a certbot that was installed but never used', async () => {
    using host = new FakeHost();
    host.write('/var/lib/packages', 'base\ncertbot\n');
    host.write('/etc/letsencrypt/cli.ini', 'max-log-backups = 0\n');
    const before = host.snapshot();
    await applyPlan(order, host.open());
    await uninstall(everything, host.open());
    assert.deepEqual(host.snapshot(), before);
  });

  test('keeps certbot for the certificates of others', async () => {
    using host = new FakeHost();
    await applyPlan(order, host.open());
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
    await applyPlan(order, host.open());
    const site = host.read('/etc/nginx/sites-available/other');
    host.write('/etc/nginx/sites-available/other', `# mine\n${site}`);
    host.write(paths.unit, '[Service]\nNice=5\n');
    await uninstall(everything, host.open());
    assert.equal(
      host.read('/etc/nginx/sites-available/other'),
      '# mine\nserver {\n  server_name other.example.test;\n}\n',
    );
    assert.equal(host.read(paths.unit), '[Service]\nNice=5\n');
    assert.deepEqual(host.reports, [
      `${paths.unit} is left as it is, because others changed it.`,
      '/etc/nginx/sites-available/other was changed by others: only the lines of the agent are removed.',
    ]);
  });

  test('removes edited files of its own and the includes that load them', async () => {
    using host = new FakeHost();
    const before = host.snapshot();
    const block = 'server {\n  server_name pasted.example.test;\n}\n';
    const [pasted, include] = ['/etc/nginx/pasted.conf', `  include ${paths.nginxRoute};\n}`];
    await applyPlan(order, host.open());
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
    const [site, renamed] = ['/etc/nginx/sites-available/other', '/etc/nginx/conf.d/renamed.conf'];
    const text = host.read(site);
    await applyPlan(order, host.open());
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
    await applyPlan(order, host.open());
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
    await applyPlan(order, host.open());
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
    await applyPlan(order, host.open());
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
    await applyPlan(order, host.open());
    rmSync(host.at('/etc/nginx/sites-available/other'));
    rmSync(host.at('/etc/nginx/sites-enabled/other'));
    await uninstall(everything, host.open());
    assert.equal(host.has('/etc/nginx/sites-available/other'), false);
    assert.deepEqual(host.reports, [
      '/etc/nginx/sites-available/other is not restored, because others removed it.',
    ]);
  });

  test('removes its lines from a file in another encoding', async () => {
    using host = new FakeHost();
    await applyPlan(order, host.open());
    const path = host.at('/etc/nginx/sites-available/other');
    const site = readFileSync(path, 'latin1');
    writeFileSync(path, `# caf\u00E9\n${site}`, 'latin1');
    await uninstall(everything, host.open());
    assert.equal(
      readFileSync(path, 'latin1'),
      '# caf\u00E9\nserver {\n  server_name other.example.test;\n}\n',
    );
  });
});
