import assert from 'node:assert/strict';
import { isIPv6 } from 'node:net';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { parseConfig } from '../../config/load-config.ts';
import type { HostFacts, InstalledFacts, Listener, NginxFacts } from '../facts.ts';
import type { InstallOptions } from '../options.ts';
import {
  BARE,
  configure,
  DOMAIN,
  keep,
  MAIN_FILE,
  OPTIONS,
  OVER_HTTP,
  OVER_HTTPS,
  SHOP,
  writeSite,
} from './hosts.fixture.ts';
import { planInstall } from './plan-install.ts';

const address = fc.constantFrom(
  '203.0.113.7',
  '198.51.100.9',
  '10.0.0.5',
  '2001:db8::1',
  'fd00::1',
);

const listener: fc.Arbitrary<Listener> = fc.record({
  port: fc.constantFrom(80, 80, 80, 443, 443, 443, 4096),
  address: fc.constantFrom('0.0.0.0', '127.0.0.1', '::'),
  process: fc.option(
    fc.record({
      pid: fc.nat(),
      name: fc.constantFrom(
        'nginx',
        'nginx',
        'nginx',
        'apache2',
        'caddy',
        'haproxy',
        'docker-proxy',
        'node',
      ),
      unit: fc.option(fc.constantFrom('nginx.service', 'latchkey-agent.service', 'x.service')),
    }),
  ),
});

const site = fc.oneof(
  fc.constantFrom(SHOP, OVER_HTTP, OVER_HTTPS, { ...OVER_HTTPS, isWritable: false }),
  // Arbitrary pieces of configuration, valid or not.
  fc.string().map((text) => writeSite(text)),
  fc
    .array(
      fc.constantFrom(
        'server {',
        '}',
        'listen 443 ssl;',
        `server_name ${DOMAIN};`,
        "'",
        '#',
        'include x;',
        'content_by_lua_block {',
        '\n',
      ),
    )
    .map((parts) => writeSite(parts.join(' '))),
);

const nginx: fc.Arbitrary<NginxFacts> = fc.record({
  version: fc.constantFrom('1.18.0', '1.22.1', '1.26.3', ''),
  isRunning: fc.boolean(),
  files: fc.oneof(
    fc.constant([]),
    fc.array(site, { maxLength: 3 }).map((files) => [MAIN_FILE, ...files]),
  ),
  warnings: fc.constant([]),
  fault: fc.option(fc.string(), { freq: 5 }),
  foreign: fc.option(fc.constant('Another nginx runs.'), { freq: 5 }),
});

const installed: fc.Arbitrary<InstalledFacts> = fc.record({
  version: fc.constant('0.9.0'),
  mode: fc.constantFrom('proxy', 'standalone'),
  domain: fc.constantFrom(DOMAIN, 'old.example.com'),
  proxyPath: fc.constant('/latchkey'),
  mutualTls: fc.boolean(),
  proxyByHand: fc.boolean(),
  certificateFiles: fc.constant(null),
  skipsDnsCheck: fc.boolean(),
});

const certificate = fc.record({
  authenticator: fc.constantFrom('standalone', 'webroot', 'nginx', ''),
  webroots: fc.constantFrom([], ['/var/www'], ['/var/lib/latchkey-agent-challenges']),
  isExpired: fc.boolean(),
});

/** Mostly a machine on which an installation is possible. */
const facts: fc.Arbitrary<HostFacts> = fc
  .record({
    isRoot: fc.boolean(),
    hasApt: fc.boolean(),
    hasCertbot: fc.boolean(),
    hasOpenssl: fc.boolean(),
    hasIpv6: fc.boolean(),
    listeners: fc.array(listener, { maxLength: 4 }),
    nginx: fc.option(nginx),
    firewall: fc.constantFrom('none', 'nft', 'ufw'),
    isPort80Refused: fc.boolean(),
    addresses: fc.array(address),
    domainAddresses: fc.array(address),
    resolverFault: fc.option(fc.constant('ETIMEOUT')),
    certificate: fc.option(certificate.map((each) => ({ ...keep(''), ...each }))),
    installed: fc.option(installed),
    configured: fc.option(
      fc
        .record({
          host: fc.constantFrom('0.0.0.0', '127.0.0.1', '::'),
          port: fc.integer({ min: 1, max: 65_535 }),
          intervalSeconds: fc.integer({ min: 1, max: 60 }),
          viewersPerAddress: fc.integer({ min: 1, max: 100_000 }),
        })
        .map((listen) => configure({ 'viewers.tokens_file': '/etc/tokens' }, listen)),
    ),
  })
  .map((each) => ({ ...BARE, ...each, isRoot: each.isRoot || each.hasApt }));

const options: fc.Arbitrary<InstallOptions> = fc
  .record({
    email: fc.option(fc.constant('ops@example.com'), { freq: 4 }),
    mode: fc.constantFrom('auto', 'proxy', 'standalone'),
    mutualTls: fc.boolean(),
    proxyByHand: fc.boolean(),
    certificateFiles: fc.option(fc.constant({ certificate: '/a.pem', key: '/a.key' })),
    scrapeIntervalSeconds: fc.option(fc.integer({ min: 1, max: 60 })),
    opensFirewall: fc.boolean(),
    skipsDnsCheck: fc.boolean(),
    allowsDowngrade: fc.boolean(),
  })
  .map((each) => ({ ...OPTIONS, ...each }));

test('plans deterministically for any machine', () => {
  const kinds = new Set<string>();
  fc.assert(
    fc.property(options, facts, (asked, host) => {
      const plan = planInstall(asked, host);
      kinds.add(plan.kind);
      assert.deepEqual(planInstall(asked, host), plan);
      if (plan.kind === 'refusal') assert.ok(plan.reasons.length > 0);
      if (plan.kind === 'manual') assert.ok(plan.reason !== '' && plan.instructions !== '');
    }),
    { numRuns: 1_000 },
  );
  assert.deepEqual([...kinds].sort(), ['manual', 'plan', 'refusal']);
});

test('never opens the port of a proxied agent, nor hides that of a standalone one', async () => {
  await fc.assert(
    fc.asyncProperty(options, facts, async (asked, host) => {
      const plan = planInstall(asked, host);
      if (plan.kind !== 'plan') return;
      const [text = ''] = plan.steps.flatMap((step) =>
        step.kind === 'file' && step.path.endsWith('agent.yaml') ? [step.text] : [],
      );
      const { listen, tls, tokensFile } = await parseConfig(text, 'agent.yaml');
      const { configured, domainAddresses } = host;
      const isByIpv6 = domainAddresses.length > 0 && domainAddresses.every(isIPv6);
      const open = isByIpv6 || configured?.host === '::' ? '::' : '0.0.0.0';
      assert.equal(listen.host, plan.mode === 'proxy' ? '127.0.0.1' : open);
      assert.equal(tls.clients !== null, asked.mutualTls);
      assert.equal(tokensFile, configured === null ? null : '/etc/tokens');
      const opened = plan.steps.flatMap((step) => (step.kind === 'firewall' ? [step.port] : []));
      assert.ok(plan.mode === 'standalone' || opened.every((port) => port === 80 || port === 443));
      const keeps = plan.steps.some((step) => step.kind === 'file' && step.keepsExisting);
      assert.ok(!keeps || host.installed?.mode === plan.mode);
    }),
    { numRuns: 500 },
  );
});

test('orders steps by their dependencies', () => {
  fc.assert(
    fc.property(options, facts, (asked, host) => {
      const plan = planInstall(asked, host);
      if (plan.kind !== 'plan') return;
      const kinds = plan.steps.map(({ kind }) => kind);
      const service = kinds.indexOf('service');
      for (const kind of ['user', 'program', 'own-certificate'] as const) {
        assert.ok(kinds.includes(kind) && kinds.indexOf(kind) < service, kind);
      }
      assert.ok(kinds.indexOf('certificate') < kinds.indexOf('own-certificate'));
      assert.ok(kinds.indexOf('authority') < service);
      const route = plan.steps.findIndex((step) => step.kind === 'nginx' && step.probesRoute);
      assert.ok(route === -1 || route > service, 'nginx forwards no viewer before the agent runs');
      assert.equal(new Set(plan.steps.map((step) => JSON.stringify(step))).size, plan.steps.length);
    }),
    { numRuns: 1_000 },
  );
});
