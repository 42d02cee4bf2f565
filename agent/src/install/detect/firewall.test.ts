import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';

import { runProgram } from '../../system/run-program.ts';
import { type Answers, createRoot, detect } from './detect-host.fixture.ts';
import { isRefusedByUfw } from './firewall.ts';

const SSH =
  '### tuple ### allow tcp 22 0.0.0.0/0 any 0.0.0.0/0 in\n-A ufw-user-input -p tcp --dport 22 -j ACCEPT\n';
const MACHINE = {
  'etc/default/ufw': 'IPV6=yes\nDEFAULT_INPUT_POLICY="DROP"\nDEFAULT_OUTPUT_POLICY="ACCEPT"\n',
  'etc/ufw/user.rules': `*filter\n### RULES ###\n\n${SSH}`,
  'etc/ufw/before.rules': '# port 80\n-A ufw-before-input -p udp --sport 67 --dport 68 -j ACCEPT\n',
};

test('detects a firewall only when it refuses connections', async (t) => {
  const root = createRoot(t);
  const docker =
    'table ip filter { chain INPUT { type filter hook input priority 0; policy accept; } }';
  const cases: readonly (readonly [string, string, string])[] = [
    ['Status: active\n', docker, 'ufw'],
    ['Status: inactive\n', docker, 'none'],
    ['', docker.replace('accept', 'drop'), 'nft'],
    ['', 'table ip x { chain y { drop } }', 'none'],
  ];
  for (const [ufw, rules, expected] of cases) {
    const answers = { 'ufw status': { stdout: ufw }, 'nft list ruleset': { stdout: rules } };
    const { firewall } = await detect(root, answers);
    assert.equal(firewall, expected, ufw + rules);
  }
});

test('detects firewalld and legacy iptables', async (t) => {
  const root = createRoot(t, { 'proc/net/ip_tables_names': 'nat\nfilter\n' });
  const detectFirewall = async (results: Answers) => (await detect(root, results)).firewall;
  const rules = { stdout: 'table inet firewalld { chain x { type filter hook input; drop } }' };
  const running = { 'firewall-cmd --state': { stdout: 'running\n' }, 'nft list ruleset': rules };
  assert.equal(await detectFirewall(running), 'firewalld');
  const drop = { stdout: '-P INPUT DROP\n-A INPUT -i lo -j ACCEPT\n' };
  assert.equal(await detectFirewall({ 'iptables-legacy -S INPUT': drop }), 'iptables');
  const accept = { stdout: '-P INPUT ACCEPT\n-A INPUT -j DOCKER\n' };
  assert.equal(await detectFirewall({ 'iptables-legacy -S INPUT': accept }), 'none');
});

test('detects that ufw refuses a port without a rule', (t) => {
  assert.equal(isRefused(t, {}), true);
  for (const rule of [
    'allow udp 80 0.0.0.0/0 any 0.0.0.0/0 in',
    'deny tcp 80 0.0.0.0/0 any 0.0.0.0/0 in',
    'allow tcp 8080,443 0.0.0.0/0 any 0.0.0.0/0 in',
    'allow tcp 81:90 0.0.0.0/0 any 0.0.0.0/0 in',
  ]) {
    assert.equal(
      isRefused(t, { 'etc/ufw/user.rules': `${SSH}### tuple ### ${rule}\n` }),
      true,
      rule,
    );
  }
});

test('is uncertain of ufw with a list, a range, an application, an address or another file', (t) => {
  for (const rule of [
    'allow tcp 80 0.0.0.0/0 any 0.0.0.0/0 in',
    'limit any 80 0.0.0.0/0 any 0.0.0.0/0 in',
    'allow_log tcp 80 0.0.0.0/0 any 0.0.0.0/0 in comment=6162',
    'allow tcp 80,443 0.0.0.0/0 any 0.0.0.0/0 Nginx%20Full - in',
    'allow tcp 79:81 0.0.0.0/0 any 0.0.0.0/0 in',
    'allow any any 0.0.0.0/0 any 203.0.113.0/24 in',
  ]) {
    assert.equal(
      isRefused(t, { 'etc/ufw/user.rules': `${SSH}### tuple ### ${rule}\n` }),
      false,
      rule,
    );
  }
  const six = '### tuple ### allow tcp 80 ::/0 any ::/0 in\n';
  assert.equal(isRefused(t, { 'etc/ufw/user6.rules': six }), false);
  const before = '-A ufw-before-input -p tcp --dport 80 -j ACCEPT\n';
  assert.equal(isRefused(t, { 'etc/ufw/before.rules': before }), false);
});

test('is uncertain of ufw with an accepting policy, and without readable rules', (t) => {
  assert.equal(isRefused(t, { 'etc/default/ufw': 'DEFAULT_INPUT_POLICY="ACCEPT"\n' }), false);
  assert.equal(isRefused(t, { 'etc/default/ufw': '' }), false);
  assert.equal(isRefused(t, { 'etc/ufw/user.rules': '' }), false);
});

function isRefused(t: TestContext, files: Readonly<Record<string, string>>): boolean {
  const root = createRoot(t, { ...MACHINE, ...files });
  return isRefusedByUfw({ root, runProgram }, 80);
}
