import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { describe, test } from 'node:test';

import { FakeHost } from '../../../test/fake-host.ts';
import { paths } from '../paths.ts';
import type { Step } from '../steps.ts';
import { applyPlan } from './apply-plan.ts';
import { uninstall } from './undo.ts';

const SITE = '/etc/nginx/conf.d/mine.conf';
const NOTHING = 'server {\n  server_name mine.example.test;\n}\n';

const steps: readonly Step[] = [
  {
    kind: 'file',
    path: paths.nginxRoute,
    text: 'location = /latchkey {}\n',
    keepsExisting: false,
    group: 'root',
    mode: 0o644,
  },
  { kind: 'nginx', probesRoute: false },
];

/** Installs, applies a change of the administrator, and uninstalls. */
async function removeAfter(host: FakeHost, change: () => void): Promise<void> {
  await applyPlan({ steps, installed: '{}', verify: async () => undefined }, host.open());
  change();
  await uninstall({ keepsConfiguration: false }, host.open());
}

describe('an uninstallation', () => {
  for (const include of [
    'include snippets/latchkey-agent.conf;',
    'include   /etc/nginx/snippets/latchkey-agent.conf ;',
    'include "snippets/latchkey-agent.conf";',
    "include '/etc/nginx/snippets/latchkey-agent.conf';",
  ]) {
    test(`removes an include of the snippet, written as: ${include}`, async () => {
      using host = new FakeHost();
      await removeAfter(host, () => host.write(SITE, NOTHING.replace('}', `  ${include}\n}`)));
      assert.equal(host.read(SITE), NOTHING);
      assert.equal(host.has(paths.nginxRoute), false);
    });
  }

  test('leaves patterns, with which nginx starts without the snippet', async () => {
    using host = new FakeHost();
    const text = NOTHING.replace('}', '  include snippets/*.conf;\n}');
    await removeAfter(host, () => host.write(SITE, text));
    assert.equal(host.read(SITE), text);
  });

  test('removes an include of the snippet from the target of a link', async () => {
    using host = new FakeHost();
    const elsewhere = '/srv/sites/mine.conf';
    await removeAfter(host, () => {
      host.write(elsewhere, NOTHING.replace('}', '  include snippets/latchkey-agent.conf;\n}'));
      mkdirSync(host.at('/etc/nginx/conf.d'));
      symlinkSync(host.at(elsewhere), host.at(SITE));
    });
    assert.equal(host.read(elsewhere), NOTHING);
  });

  test('looks for includes below the directory of the configuration that nginx loads', async () => {
    using host = new FakeHost();
    host.nginxDirectory = '/opt/nginx/conf';
    const site = '/opt/nginx/conf/sites/mine.conf';
    await removeAfter(host, () => {
      // An uninstallation does not detect nginx, so the directory comes from the journal.
      host.nginxDirectory = '/etc/nginx';
      const include = 'include ../../../etc/nginx/snippets/latchkey-agent.conf;';
      host.write(site, NOTHING.replace('}', `  ${include}\n}`));
    });
    assert.equal(host.read(site), NOTHING);
    assert.equal(host.calls.at(-1), 'systemctl reload nginx');
  });

  const failure = `nginx: [emerg] open() "${paths.nginxRoute}" failed (2: No such file or directory) in /srv/site.conf:3\n`;

  test('leaves an empty snippet and reports it when nginx does not start without one', async () => {
    using host = new FakeHost();
    host.intercept = (command) =>
      command === 'nginx -t' && !host.has(paths.nginxRoute) ? { code: 1, stderr: failure } : null;
    await removeAfter(host, () => host.write('/srv/site.conf', 'include snippets/*;\n'));
    assert.match(
      host.read(paths.nginxRoute),
      /^# Left empty by latchkey-agent uninstall:[^\n]*\n$/u,
    );
    assert.equal(host.reports.length, 1);
    assert.match(host.reports[0] ?? '', /is left as an empty file, .* in \/srv\/site\.conf:3\)$/u);
    assert.ok(host.calls.includes('systemctl reload nginx'));
  });

  test('leaves no snippet when nginx does not start for another reason', async () => {
    using host = new FakeHost();
    let isBroken = false;
    host.intercept = (command) =>
      command === 'nginx -t' && isBroken ? { code: 1, stderr: 'nginx: [emerg] another' } : null;
    await assert.rejects(removeAfter(host, () => void (isBroken = true)));
    assert.equal(host.has(paths.nginxRoute), false);
  });
});
