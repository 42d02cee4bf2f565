import assert from 'node:assert/strict';
import { test } from 'node:test';

import { BARE, OPTIONS } from './hosts.fixture.ts';
import { planFirewall } from './plan-firewall.ts';

test('what is opened in nftables is told to last until its rules are loaded anew, with the rule to keep', () => {
  const [ufw, nft] = (['ufw', 'nft'] as const).map((firewall) =>
    planFirewall({ ...OPTIONS, opensFirewall: true }, { ...BARE, firewall }, [80, 4096]),
  );
  assert.deepEqual([ufw?.steps.length, nft?.steps.length], [2, 2]);
  assert.deepEqual(ufw?.notes, []);
  assert.deepEqual(nft?.notes, [
    'What is opened in nftables lasts until its rules are loaded anew, at the next start at the latest: add "tcp dport { 80, 4096 } accept" to its input chain where they are kept (mostly /etc/nftables.conf).',
  ]);
});
