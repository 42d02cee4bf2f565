import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';

import { runProgram } from '../../system/run-program.ts';
import { isRefusedByUfw } from './firewall.ts';

const SSH =
  '### tuple ### allow tcp 22 0.0.0.0/0 any 0.0.0.0/0 in\n-A ufw-user-input -p tcp --dport 22 -j ACCEPT\n';
const MACHINE = {
  'etc/default/ufw': 'IPV6=yes\nDEFAULT_INPUT_POLICY="DROP"\nDEFAULT_OUTPUT_POLICY="ACCEPT"\n',
  'etc/ufw/user.rules': `*filter\n### RULES ###\n\n${SSH}`,
  'etc/ufw/before.rules': '# port 80\n-A ufw-before-input -p udp --sport 67 --dport 68 -j ACCEPT\n',
};

test('detects that ufw refuses a port without a rule', (t) => {
  assert.equal(judge(t, {}), true);
  for (const rule of [
    'allow udp 80 0.0.0.0/0 any 0.0.0.0/0 in',
    'deny tcp 80 0.0.0.0/0 any 0.0.0.0/0 in',
    'allow tcp 8080,443 0.0.0.0/0 any 0.0.0.0/0 in',
    'allow tcp 81:90 0.0.0.0/0 any 0.0.0.0/0 in',
  ]) {
    assert.equal(judge(t, { 'etc/ufw/user.rules': `${SSH}### tuple ### ${rule}\n` }), true, rule);
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
    assert.equal(judge(t, { 'etc/ufw/user.rules': `${SSH}### tuple ### ${rule}\n` }), false, rule);
  }
  const six = '### tuple ### allow tcp 80 ::/0 any ::/0 in\n';
  assert.equal(judge(t, { 'etc/ufw/user6.rules': six }), false);
  const before = '-A ufw-before-input -p tcp --dport 80 -j ACCEPT\n';
  assert.equal(judge(t, { 'etc/ufw/before.rules': before }), false);
});

test('is uncertain of ufw with an accepting policy, and without readable rules', (t) => {
  assert.equal(judge(t, { 'etc/default/ufw': 'DEFAULT_INPUT_POLICY="ACCEPT"\n' }), false);
  assert.equal(judge(t, { 'etc/default/ufw': '' }), false);
  assert.equal(judge(t, { 'etc/ufw/user.rules': '' }), false);
});

function judge(t: TestContext, files: Readonly<Record<string, string>>): boolean {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'latchkey-ufw-')));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries({ ...MACHINE, ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return isRefusedByUfw({ root, runProgram }, 80);
}
