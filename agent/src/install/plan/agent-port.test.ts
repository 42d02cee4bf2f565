import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { HostFacts } from '../facts.ts';
import type { InstallOptions } from '../options.ts';
import { paths } from '../paths.ts';
import {
  BARE,
  configure,
  installedIn,
  keep,
  listenOn,
  OPTIONS,
  OVER_HTTPS,
  withNginx,
} from './hosts.fixture.ts';
import type { Plan } from './plan.ts';
import { planInstall } from './plan-install.ts';

function accept(options: InstallOptions, facts: HostFacts): Plan {
  const plan = planInstall(options, facts);
  assert.ok(plan.kind === 'plan', JSON.stringify(plan));
  return plan;
}

const configured = configure({}, { host: '127.0.0.1', port: 5000, intervalSeconds: 5 });
const proxied = { ...withNginx(OVER_HTTPS), installed: installedIn('proxy'), configured };

test('uses the configured port in nginx and in instructions', () => {
  const plan = accept(OPTIONS, proxied);
  const route = plan.steps.find((step) => 'path' in step && step.path === paths.nginxRoute);
  assert.ok(route?.kind === 'file');
  assert.deepEqual([...new Set(route.text.match(/127\.0\.0\.1:\d+/gu))], ['127.0.0.1:5000']);
  assert.equal(plan.agentPort, 5000);
  const apache = { ...proxied, listeners: [listenOn(443, 'apache2')] };
  const byHand = planInstall({ ...OPTIONS, mode: 'proxy' }, apache);
  assert.ok(byHand.kind === 'manual');
  assert.match(byHand.instructions, /127\.0\.0\.1:5000/u);
  assert.doesNotMatch(byHand.instructions, /4096/u);
});

test('opens and reserves the configured port', () => {
  const direct = {
    ...BARE,
    installed: installedIn('standalone'),
    certificate: keep('standalone'),
    configured,
  };
  const opened = accept({ ...OPTIONS, opensFirewall: true }, { ...direct, firewall: 'nft' });
  assert.deepEqual(
    opened.steps.flatMap((step) => (step.kind === 'firewall' ? [step.port] : [])),
    [80, 5000],
  );
  assert.equal(accept(OPTIONS, { ...direct, listeners: [listenOn(4096, 'java')] }).agentPort, 5000);
  assert.match(
    JSON.stringify(planInstall(OPTIONS, { ...direct, listeners: [listenOn(5000, 'java')] })),
    /"Port 5000, which the agent needs, is used by java/u,
  );
});

test('keeps the configured port in a rewritten configuration, unless nginx needs it', () => {
  assert.equal(accept({ ...OPTIONS, mutualTls: true }, proxied).agentPort, 5000);
  const direct = configure({}, { port: 443 });
  const moved = { ...proxied, installed: installedIn('standalone'), configured: direct };
  assert.equal(accept({ ...OPTIONS, mode: 'proxy' }, moved).agentPort, 4096);
});

test('notes that an interval has no effect on a kept configuration', () => {
  const [same, other] = [5, 2].map((scrapeIntervalSeconds) =>
    accept({ ...OPTIONS, scrapeIntervalSeconds }, proxied).notes.filter((note) =>
      note.includes('interval'),
    ),
  );
  assert.deepEqual(same, []);
  assert.deepEqual(other, [
    `${paths.configuration} is kept, so the interval is not changed: set interval_seconds: 2 in it, then systemctl restart latchkey-agent.service.`,
  ]);
});

test('listens on IPv6 for a domain on IPv6 only, and otherwise notes how to', () => {
  const [four, six] = ['203.0.113.7', '2001:db8::9'];
  const look = (domainAddresses: readonly string[], changes: Partial<HostFacts> = {}) => {
    const facts = { ...BARE, addresses: [four, six], domainAddresses, ...changes };
    const plan = accept({ ...OPTIONS, mode: 'standalone' }, facts);
    const file = plan.steps.find((step) => 'path' in step && step.path === paths.configuration);
    const [, listen] = (file?.kind === 'file' && /^listen: (.*)$/mu.exec(file.text)) || [];
    return [listen, plan.notes.some((note) => note.includes('IPv6'))];
  };
  assert.deepEqual(look([four]), ['0.0.0.0:4096', false]);
  assert.deepEqual(look([six]), ['"[::]:4096"', false]);
  assert.deepEqual(look([four, six]), ['0.0.0.0:4096', true]);
  const kept = { installed: installedIn('standalone'), certificate: keep('standalone') };
  const configuredOn = (host: string) => ({ ...kept, configured: configure({}, { host }) });
  assert.equal(look([four, six], configuredOn('0.0.0.0'))[1], true);
  assert.equal(look([four, six], configuredOn('::'))[1], false);
});
