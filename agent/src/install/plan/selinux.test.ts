import assert from 'node:assert/strict';
import { test } from 'node:test';

import { BARE, OPTIONS, OVER_HTTP, OVER_HTTPS, withNginx } from './hosts.fixture.ts';
import { planInstall } from './plan-install.ts';

const selinux = { webServerMayConnect: false, webServerMayReadChallenges: false };

test('refuses proxy mode with the commands that SELinux needs', () => {
  const plan = planInstall(OPTIONS, { ...withNginx(OVER_HTTPS), selinux });
  assert.ok(plan.kind === 'refusal');
  assert.match(
    plan.reasons.join(),
    /run setsebool -P httpd_can_network_connect 1 && semanage fcontext -a -t httpd_sys_content_t '\/var\/lib\/latchkey-agent-challenges\(\/\.\*\)\?' and this again/u,
  );
  const half = { webServerMayConnect: true, webServerMayReadChallenges: false };
  const other = planInstall(OPTIONS, { ...withNginx(OVER_HTTPS), selinux: half });
  assert.ok(other.kind === 'refusal' && !other.reasons.join().includes('setsebool'));
});

test('refuses standalone mode when SELinux stops nginx from answering the challenge', () => {
  const options = { ...OPTIONS, mode: 'standalone' as const };
  const plan = planInstall(options, { ...withNginx(OVER_HTTP), selinux });
  assert.ok(plan.kind === 'refusal');
  assert.deepEqual(plan.reasons, [
    "SELinux is enforced here, and forbids a web server to answer challenges: run semanage fcontext -a -t httpd_sys_content_t '/var/lib/latchkey-agent-challenges(/.*)?' and this again.",
  ]);
  const readable = { webServerMayConnect: false, webServerMayReadChallenges: true };
  const allowed = planInstall(options, { ...withNginx(OVER_HTTP), selinux: readable });
  assert.equal(allowed.kind, 'plan');
});

test('ignores SELinux without a proxy, and where it allows what is needed', () => {
  const options = { ...OPTIONS, certificateFiles: { certificate: '/a.pem', key: '/a.key' } };
  assert.equal(planInstall(options, { ...BARE, selinux }).kind, 'plan');
  const allowed = { webServerMayConnect: true, webServerMayReadChallenges: true };
  assert.equal(planInstall(OPTIONS, { ...withNginx(OVER_HTTPS), selinux: allowed }).kind, 'plan');
});
