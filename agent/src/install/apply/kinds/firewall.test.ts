import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FakeHost } from '../../../../test/fake-host.ts';
import { firewall } from './firewall.ts';

/** What was there before: nothing that these steps depend on. */
const NOTHING = { paths: [], facts: {} };

const CHAIN = { table: 'filter', type: 'filter', hook: 'input', policy: 'drop' };

function makeRule(port: number, handle: number, comment = 'latchkey-agent', field = 'dport') {
  const left = { payload: { protocol: 'tcp', field } };
  // As its keys may come, too.
  const expr = [{ match: { right: port, op: '==', left } }, { accept: null }];
  return { rule: { family: 'inet', table: 'filter', chain: 'input', handle, comment, expr } };
}

/** A host with nftables, which has these chains and rules. */
function hostWith(...nftables: readonly object[]): FakeHost {
  const host = new FakeHost();
  const stdout = JSON.stringify({ nftables });
  host.intercept = (command) => (command.startsWith('nft --json') ? { stdout } : null);
  return host;
}

const step = { kind: 'firewall', tool: 'nft', port: 80 } as const;

test('a rule of nftables is known by its port, whatever its number', async () => {
  using host = hostWith(makeRule(4096, 80), makeRule(8080, 800), makeRule(80, 7, 'theirs'));
  using source = hostWith(makeRule(80, 7, 'latchkey-agent', 'sport'));
  assert.equal(await firewall.holds(step, source.open()), false);
  assert.equal(await firewall.holds(step, host.open()), false);
  using open = hostWith(makeRule(4096, 80), makeRule(80, 9));
  assert.equal(await firewall.holds(step, open.open()), true);
  const before = { paths: [], facts: { open: [] } };
  const entry = { kind: 'firewall', subject: { tool: 'nft', port: '80' }, before, after: {} };
  await firewall.undo({ ...entry, kind: 'firewall' }, open.open());
  assert.equal(open.calls.at(-1), 'nft delete rule inet filter input handle 9');
});

test('a port is opened in the chains that know ports', async () => {
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
