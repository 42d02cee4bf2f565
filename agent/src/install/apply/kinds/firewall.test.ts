import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';

import { FakeHost } from '../../../../test/fake-host.ts';
import { paths } from '../../paths.ts';
import { firewall } from './firewall.ts';

/** A captured state without anything that these steps depend on. */
const NOTHING = { paths: [], facts: {} };

const CHAIN = { table: 'filter', type: 'filter', hook: 'input', policy: 'drop' };

function makeRule(port: number, handle: number, comment = 'latchkey-agent', field = 'dport') {
  const left = { payload: { protocol: 'tcp', field } };
  // nft prints the keys in any order.
  const expr = [{ match: { right: port, op: '==', left } }, { accept: null }];
  return { rule: { family: 'inet', table: 'filter', chain: 'input', handle, comment, expr } };
}

/** Returns a host whose nftables has these chains and rules. */
function hostWith(...nftables: readonly object[]): FakeHost {
  const host = new FakeHost();
  const stdout = JSON.stringify({ nftables });
  host.intercept = (command) => (command.startsWith('nft --json') ? { stdout } : null);
  return host;
}

const step = { kind: 'firewall', tool: 'nft', port: 80 } as const;

test('identifies a rule of nftables by its port', async () => {
  using host = hostWith(makeRule(4096, 80), makeRule(8080, 800), makeRule(80, 7, 'theirs'));
  using source = hostWith(makeRule(80, 7, 'latchkey-agent', 'sport'));
  assert.equal(await firewall.isSatisfied(step, source.open()), false);
  assert.equal(await firewall.isSatisfied(step, host.open()), false);
  using open = hostWith(makeRule(4096, 80), makeRule(80, 9));
  const before = { paths: [], facts: { open: [] } };
  const entry = { kind: 'firewall', subject: { tool: 'nft', port: '80' }, before, after: {} };
  await firewall.undo({ ...entry, kind: 'firewall' }, open.open());
  assert.equal(open.calls.at(-1), 'nft delete rule inet filter input handle 9');
});

test('opens a port in chains of families with ports', async () => {
  using host = hostWith(
    { chain: { family: 'inet', name: 'input', ...CHAIN } },
    { chain: { family: 'arp', name: 'input', ...CHAIN } },
  );
  await firewall.apply(step, host.open(), NOTHING);
  assert.deepEqual(
    host.calls.filter((call) => call.includes('insert')),
    ['nft insert rule inet filter input tcp dport 80 accept comment "latchkey-agent"'],
  );
});

test('opens a port of nftables at each boot until it is undone', async () => {
  using host = hostWith({ chain: { family: 'inet', name: 'input', ...CHAIN } });
  const before = { paths: [], facts: { open: [] } };
  const entryOf = (port: string) => ({
    kind: 'firewall' as const,
    subject: { tool: 'nft', port },
    before,
    after: {},
  });
  for (const port of [80, 4096]) await firewall.apply({ ...step, port }, host.open(), before);
  assert.match(host.read(paths.portUnit), /^ExecStart=\/usr\/bin\/latchkey-agent open-port %i$/mu);
  assert.ok(host.calls.includes('systemctl enable --quiet latchkey-agent-port@80.service'));
  // systemd creates these links when both units are enabled.
  const wants = '/etc/systemd/system/multi-user.target.wants';
  for (const port of [80, 4096]) host.write(`${wants}/latchkey-agent-port@${port}.service`, '');
  await firewall.undo(entryOf('4096'), host.open());
  assert.ok(host.has(paths.portUnit), 'port 80 needs it');
  rmSync(host.at(`${wants}/latchkey-agent-port@4096.service`));
  await firewall.undo(entryOf('80'), host.open());
  assert.equal(host.has(paths.portUnit), false);
});

test('opens a port again whose rule or unit is missing', async () => {
  using host = hostWith(makeRule(80, 9));
  assert.equal(
    await firewall.isSatisfied(step, host.open()),
    false,
    'no unit opens it at the next boot',
  );
  host.write(paths.portUnit, '');
  await host.runProgram('systemctl', ['enable', 'latchkey-agent-port@80.service']);
  assert.equal(await firewall.isSatisfied(step, host.open()), true);
});

/** Returns a host with firewalld, in whose runtime and permanent configurations port 80 is open or not. */
function hostWithFirewalld(open: { permanent: boolean; runtime: boolean }): FakeHost {
  const host = new FakeHost();
  host.intercept = (command) => {
    const [, permanent, action] =
      /^firewall-cmd (--permanent )?--(query|add|remove)-port=80\/tcp$/u.exec(command) ?? [];
    const place = permanent === undefined ? 'runtime' : 'permanent';
    if (action === 'query') return { code: open[place] ? 0 : 1 };
    if (action !== undefined) open[place] = action === 'add';
    return null;
  };
  return host;
}

test('opens a port in both configurations of firewalld, and restores each as it was', async () => {
  const own = { ...step, tool: 'firewalld' } as const;
  const subject = { tool: 'firewalld', port: '80' };
  for (const [permanent, runtime] of [
    [false, false],
    [true, false],
    [false, true],
  ] as const) {
    const open = { permanent, runtime };
    using host = hostWithFirewalld(open);
    assert.equal(await firewall.isSatisfied(own, host.open()), false);
    const before = await firewall.capture(subject, host.open());
    await firewall.apply(own, host.open(), before);
    assert.deepEqual(open, { permanent: true, runtime: true });
    assert.equal(await firewall.isSatisfied(own, host.open()), true);
    await firewall.undo({ kind: 'firewall', subject, before, after: {} }, host.open());
    assert.deepEqual(open, { permanent, runtime });
  }
});

test('does not add an existing rule again', async () => {
  using host = hostWith({ chain: { family: 'inet', name: 'input', ...CHAIN } }, makeRule(80, 9));
  const before = await firewall.capture({ tool: 'nft', port: '80' }, host.open());
  assert.deepEqual(before.facts, { open: ['rule'] });
  await firewall.apply(step, host.open(), before);
  assert.deepEqual(
    host.calls.filter((call) => call.includes('insert')),
    [],
  );
  await firewall.undo(
    { kind: 'firewall', subject: { tool: 'nft', port: '80' }, before, after: {} },
    host.open(),
  );
  assert.equal(host.has(paths.portUnit), false);
  assert.ok(!host.calls.some((call) => call.includes('delete')), 'it was open before');
});
