import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { HostFacts } from '../facts.ts';
import type { InstallOptions } from '../options.ts';
import { paths } from '../paths.ts';
import {
  DOMAIN,
  installedIn,
  keep,
  OPTIONS,
  OVER_HTTPS,
  SHOP,
  withNginx,
} from './hosts.fixture.ts';
import type { Plan } from './plan.ts';
import { planInstall } from './plan-install.ts';

const OLD = 'old.example.com';
const LIVE = `/etc/letsencrypt/live/${DOMAIN}`;
const INSTALLED = { ...installedIn('proxy'), domain: OLD };

function plan(facts: HostFacts, options: InstallOptions = OPTIONS): Plan {
  const made = planInstall(options, facts);
  if (made.kind !== 'plan') assert.fail(JSON.stringify(made));
  return made;
}

const outline = ({ steps }: Plan): string[] =>
  steps.map((step) => ('path' in step ? `${step.kind} ${step.path}` : step.kind));

const moved: HostFacts = { ...withNginx(SHOP), installed: INSTALLED, challenged: [OLD] };

test('does not keep the certificate of an earlier domain', () => {
  const { keptCertificates, objections } = plan(moved);
  assert.deepEqual([keptCertificates, objections], [[DOMAIN], []]);
});

test('keeps the certificate of an earlier domain that is in use, and requires its renewal', () => {
  const certificateUses = [{ name: OLD, path: '/etc/postfix/main.cf' }];
  const { keptCertificates, objections } = plan({ ...moved, certificateUses });
  assert.deepEqual(keptCertificates, [DOMAIN, OLD]);
  assert.equal(objections.length, 1);
  assert.match(objections[0] ?? '', /old\.example\.com.*postfix.*certbot certonly --cert-name/u);
  const elsewhere = plan({ ...moved, certificateUses, challenged: [] });
  assert.deepEqual(elsewhere.objections, [], 'it is renewed by another method now');
});

test("renews a certificate through nginx that a site's own block presents", () => {
  const certificate = keep('webroot', [paths.challenges]);
  const certificateUses = [{ name: DOMAIN, path: '/etc/nginx/sites-available/site' }];
  const facts = {
    ...withNginx(OVER_HTTPS),
    installed: { ...INSTALLED, domain: DOMAIN },
    certificate,
    certificateUses,
    challenged: [DOMAIN],
  };
  const made = plan(facts);
  const steps = outline(made);
  for (const step of [
    `directory ${paths.challenges}`,
    `file ${paths.nginxChallengeServer}`,
    `file ${paths.renewalHook}`,
  ]) {
    assert.ok(steps.includes(step), steps.join('\n'));
  }
  assert.deepEqual([made.objections, made.keptCertificates], [[], [DOMAIN]]);
});

test('deploys each renewal of a given certificate of certbot', () => {
  const certificateFiles = {
    certificate: `${LIVE}/fullchain.pem`,
    key: `${LIVE}/privkey.pem`,
  };
  for (const mode of ['standalone', 'proxy'] as const) {
    const made = plan(withNginx(SHOP), { ...OPTIONS, mode, certificateFiles });
    assert.ok(outline(made).includes(`file ${paths.renewalHook}`), mode);
    assert.deepEqual(made.keptCertificates, [DOMAIN]);
  }
  const copied = { certificate: '/etc/ssl/a.pem', key: '/etc/ssl/a.key' };
  const made = plan(withNginx(SHOP), { ...OPTIONS, certificateFiles: copied });
  assert.equal(outline(made).includes(`file ${paths.renewalHook}`), false);
});
