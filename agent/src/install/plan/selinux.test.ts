import assert from 'node:assert/strict';
import { test } from 'node:test';

import { BARE, OPTIONS, OVER_HTTPS, withNginx } from './hosts.fixture.ts';
import { planInstall } from './plan-install.ts';

const selinux = { webServerMayConnect: false, webServerMayReadChallenges: false };

test('where SELinux forbids it, an installation behind a proxy is refused with the commands that allow it', () => {
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

test('SELinux is no matter without a proxy, and where it allows what is needed', () => {
  const options = { ...OPTIONS, certificateFiles: { certificate: '/a.pem', key: '/a.key' } };
  assert.equal(planInstall(options, { ...BARE, selinux }).kind, 'plan');
  const allowed = { webServerMayConnect: true, webServerMayReadChallenges: true };
  assert.equal(planInstall(OPTIONS, { ...withNginx(OVER_HTTPS), selinux: allowed }).kind, 'plan');
});
