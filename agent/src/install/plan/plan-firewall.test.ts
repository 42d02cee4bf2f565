import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { HostFacts } from '../facts.ts';
import { BARE, DOMAIN, keep, OPTIONS, SHOP, withNginx } from './hosts.fixture.ts';
import { planFirewall } from './plan-firewall.ts';
import { planInstall } from './plan-install.ts';

const PORTS = [80, 4096];

function plan(firewall: HostFacts['firewall'], opensFirewall: boolean) {
  return planFirewall({ ...OPTIONS, opensFirewall }, { ...BARE, firewall }, PORTS);
}

test('--open-firewall opens the ports in ufw, firewalld and nftables', () => {
  for (const tool of ['ufw', 'firewalld', 'nft'] as const) {
    assert.deepEqual(plan(tool, true), {
      steps: PORTS.map((port) => ({ kind: 'firewall', tool, port })),
      notes: [],
    });
  }
});

test('names the commands that open ports permanently without --open-firewall', () => {
  const said = (['ufw', 'firewalld', 'nft'] as const).map((tool) => plan(tool, false).notes.join());
  assert.match(
    said[0] ?? '',
    /\(ufw\).*\(ufw allow 80\/tcp; ufw allow 4096\/tcp\), or install again/u,
  );
  assert.match(
    said[1] ?? '',
    /firewall-cmd --permanent --add-port=80\/tcp --add-port=4096\/tcp; firewall-cmd --reload/u,
  );
  assert.match(said[2] ?? '', /\(nftables\): ports 80 and 4096 must be open.*--open-firewall/u);
});

test('never changes legacy iptables, and names the commands', () => {
  const { steps, notes } = plan('iptables', true);
  assert.deepEqual(steps, []);
  assert.match(
    notes.join(),
    /iptables -I INPUT -p tcp -m multiport --dports 80,4096 -j ACCEPT; ip6tables -I .*does not change these rules/u,
  );
});

test('objects to a certificate while ufw blocks port 80', () => {
  const closed = { firewall: 'ufw', isPort80Refused: true } as const;
  const list = (facts: HostFacts, options: Partial<typeof OPTIONS> = {}) => {
    const made = planInstall({ ...OPTIONS, ...options }, { ...facts, ...closed });
    assert.ok(made.kind === 'plan');
    return made.objections;
  };
  for (const facts of [BARE, withNginx(SHOP)]) {
    assert.match(
      list(facts).join(),
      new RegExp(`^ufw blocks port 80, on which .* ${DOMAIN}: install with --open-firewall, `, 'u'),
    );
    assert.deepEqual(list(facts, { opensFirewall: true }), []);
    assert.deepEqual(list(facts, { skipsDnsCheck: true }), []);
  }
  assert.deepEqual(list({ ...BARE, certificate: keep('standalone') }), []);
  const certificateFiles = { certificate: '/a.pem', key: '/a.key' };
  assert.deepEqual(list(BARE, { certificateFiles }), []);
});
