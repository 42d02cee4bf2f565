import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { HostFacts } from '../facts.ts';
import {
  BARE,
  DOMAIN,
  listenOn,
  OPTIONS,
  OVER_HTTPS,
  SHOP,
  withNginx,
  writeSite,
} from './hosts.fixture.ts';
import type { InstallOptions } from '../options.ts';
import type { ManualSteps } from './plan.ts';
import { planInstall } from './plan-install.ts';

const BY_HAND: InstallOptions = { ...OPTIONS, proxyByHand: true, email: null };
const APACHE = { ...BARE, listeners: [listenOn(80, 'apache2'), listenOn(443, 'apache2')] };

function plan(facts: HostFacts, options = BY_HAND): ManualSteps | null {
  const found = planInstall(options, facts);
  assert.ok(found.kind === 'plan', JSON.stringify(found));
  return found.manualSteps;
}

test('adds manual steps for the detected web server', () => {
  assert.match(plan(APACHE)?.instructions ?? '', /<VirtualHost \*:443>.*ProxyPass/su);
  assert.match(plan(BARE)?.instructions ?? '', /An unknown web server answers/u);
  const route = /^Put this into the server block that answers.*location = \/latchkey \{/su;
  for (const site of [OVER_HTTPS, SHOP]) {
    assert.match(plan(withNginx(site))?.instructions ?? '', route);
  }
  const balanced = OVER_HTTPS.text.replace('ssl;', 'ssl proxy_protocol;');
  assert.match(plan(withNginx(writeSite(balanced)))?.instructions ?? '', /\$proxy_protocol_addr/u);
});

test('adds no manual steps where nginx has the route', () => {
  const route = 'location = /latchkey { proxy_pass https://127.0.0.1:4096/; }';
  const pasted = OVER_HTTPS.text.replace('root', `${route}\n    root`);
  assert.equal(plan(withNginx(writeSite(pasted))), null);
});

test('marks manual steps of an earlier installation as repeated', () => {
  const installed = {
    version: '1.0.0',
    mode: 'proxy',
    domain: DOMAIN,
    proxyPath: '/latchkey',
    mutualTls: false,
    proxyByHand: true,
    certificateFiles: null,
    skipsDnsCheck: false,
  } as const;
  const after = { ...APACHE, installed };
  assert.deepEqual(
    [APACHE, { ...APACHE, installed: { ...installed, proxyByHand: false } }, after].map(
      (facts) => plan(facts)?.isRepeated,
    ),
    [false, false, true],
  );
  assert.equal(plan(after, { ...BY_HAND, mutualTls: true })?.isRepeated, false);
});

test('adds no manual steps where the installer configures nginx', () => {
  assert.equal(plan(withNginx(OVER_HTTPS), { ...OPTIONS, proxyByHand: false }), null);
});
