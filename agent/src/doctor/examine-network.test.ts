import assert from 'node:assert/strict';
import { test } from 'node:test';

import { paths } from '../install/paths.ts';
import type { Inspection } from './inspect/inspection.ts';

import {
  nginxProcess,
  renewal,
  configuration,
  standalone,
  proxied,
  listFaults,
  assertOnly,
} from './examine.fixture.ts';

test('reports an agent on IPv4 with a domain on IPv6 only', () => {
  const addresses = ['2001:db8::7'];
  const domain = {
    name: 'm.example.com',
    addresses,
    resolverFault: null,
    ownAddresses: addresses,
  };
  assertOnly(
    { ...standalone, domain },
    'bind_address',
    'problem',
    'm.example.com resolves to IPv6 addresses only, and the agent listens on 0.0.0.0.',
    /^Set listen: "\[::\]:4096" in /u,
  );
  assert.deepEqual(listFaults({ ...standalone, domain, configuration: configuration('::') }), []);
  const both = {
    ...domain,
    addresses: ['203.0.113.7', ...addresses],
    ownAddresses: ['203.0.113.7', ...addresses],
  };
  assert.deepEqual(listFaults({ ...standalone, domain: both }), []);
});

test('reports a domain with another address or none, and warns behind a router', () => {
  const domain = { name: 'm.example.com', addresses: ['198.51.100.1'], resolverFault: null };
  assertOnly(
    { ...standalone, domain: { ...domain, ownAddresses: ['203.0.113.7'] } },
    'domain',
    'problem',
    'm.example.com resolves to 198.51.100.1, and this machine has 203.0.113.7.',
    /Correct the records of m\.example\.com/u,
  );
  assertOnly(
    { ...standalone, domain: { ...domain, ownAddresses: ['192.168.1.5'] } },
    'domain',
    'warning',
    'm.example.com resolves to 198.51.100.1, and this machine has 192.168.1.5.',
    /router forwards port 80, 4096 to this machine\.$/u,
  );
  assertOnly(
    { ...standalone, domain: { ...domain, addresses: [], ownAddresses: ['203.0.113.7'] } },
    'domain',
    'problem',
    'm.example.com does not resolve: the DNS has no address for it.',
    /Add a record/u,
  );
});

test('warns of an address that the installation accepted', () => {
  assert.ok(standalone.installed);
  const inspection: Inspection = {
    ...standalone,
    installed: { ...standalone.installed, skipsDnsCheck: true },
    domain: {
      name: 'm.example.com',
      addresses: ['198.51.100.1'],
      resolverFault: null,
      ownAddresses: ['203.0.113.7'],
    },
  };
  const cause =
    'm.example.com resolves to 198.51.100.1, and this machine has 203.0.113.7; the installation accepted that (--skip-dns-check).';
  assertOnly(inspection, 'domain', 'warning', cause, /forwards port 80, 4096 to this machine\.$/u);
  const router = { address: '198.51.100.1', isOwn: false, isOurs: false, summary: 'status 404' };
  assert.deepEqual(
    listFaults({ ...inspection, challenges: [router] }).map(({ check, state }) => [check, state]),
    [['domain', 'warning']],
    'a router may answer requests from inside itself',
  );
});

test('reports a port that ufw closes', () => {
  assertOnly(
    { ...standalone, firewall: { tool: 'ufw', openPorts: [22, 80] } },
    'firewall',
    'problem',
    'ufw blocks port 4096.',
    /^ufw allow 4096\/tcp$/u,
  );
});

test('warns of a port that no rule of nftables names', () => {
  assertOnly(
    { ...standalone, firewall: { tool: 'nft', openPorts: [80] } },
    'firewall',
    'warning',
    'No rule of nftables names port 4096, and everything that no rule allows is refused.',
    /add "tcp dport \{ 4096 \} accept"/u,
  );
  for (const openPorts of [[80, 4096], null]) {
    assert.deepEqual(listFaults({ ...standalone, firewall: { tool: 'nft', openPorts } }), []);
  }
  assert.deepEqual(
    listFaults({ ...proxied, firewall: { tool: 'nft', openPorts: [80, 443, 4096] } }),
    [],
    'a rule with the port may refuse it',
  );
});

test('reports a port that firewalld opens only until its next reload, or only after it', () => {
  const firewall = { tool: 'firewalld', openPorts: [80, 4096], permanentPorts: [80] } as const;
  assertOnly(
    { ...standalone, firewall },
    'firewall',
    'warning',
    'firewalld allows port 4096 until it is reloaded: its permanent configuration does not.',
    /^firewall-cmd --permanent --add-port=4096\/tcp$/u,
  );
  assertOnly(
    { ...standalone, firewall: { ...firewall, openPorts: [80], permanentPorts: [80, 4096] } },
    'firewall',
    'problem',
    'firewalld blocks port 4096 until it is reloaded: only its permanent configuration allows it.',
    /^firewall-cmd --reload$/u,
  );
});

test('reports a port that firewalld closes, and warns of one that no rule of iptables names', () => {
  assertOnly(
    { ...standalone, firewall: { tool: 'firewalld', openPorts: [80], permanentPorts: [80] } },
    'firewall',
    'problem',
    'firewalld blocks port 4096.',
    /^firewall-cmd --permanent --add-port=4096\/tcp && firewall-cmd --reload$/u,
  );
  assertOnly(
    { ...standalone, firewall: { tool: 'iptables', openPorts: [80] } },
    'firewall',
    'warning',
    'No rule of iptables names port 4096, and everything that no rule allows is refused.',
    /iptables -I INPUT -p tcp -m multiport --dports 4096 -j ACCEPT && ip6tables/u,
  );
});

test('reports what SELinux forbids the web server', () => {
  const selinux = { webServerMayConnect: false, webServerMayReadChallenges: false };
  assertOnly(
    { ...proxied, selinux },
    'selinux',
    'problem',
    'SELinux is enforced, and denies the proxy what it needs.',
    /^setsebool -P httpd_can_network_connect 1 && semanage fcontext -a -t httpd_sys_content_t '\/var\/lib\/latchkey-agent-challenges\(\/\.\*\)\?' && restorecon -R/u,
  );
  assert.deepEqual(listFaults({ ...standalone, selinux }), []);
  const webroot = { ...renewal, authenticator: 'webroot', webroots: [paths.challenges] };
  const listeners = [...standalone.listeners, { port: 80, address: '::', process: nginxProcess }];
  assertOnly(
    { ...standalone, listeners, renewal: webroot, selinux },
    'selinux',
    'problem',
    'SELinux is enforced, and denies the proxy what it needs.',
    /^semanage fcontext/u,
  );
  const allowed = { webServerMayConnect: true, webServerMayReadChallenges: true };
  assert.deepEqual(listFaults({ ...proxied, selinux: allowed }), []);
});

test('needs port 80 for certificates of certbot only', () => {
  const firewall = { tool: 'ufw', openPorts: [22, 4096] } as const;
  assert.deepEqual(
    listFaults({ ...standalone, firewall }).map(({ cause }) => cause),
    ['ufw blocks port 80.'],
  );
  const certificateFiles = { certificate: '/etc/a/own.pem', key: '/etc/a/own.key' };
  assert.ok(standalone.installed);
  const installed = { ...standalone.installed, certificateFiles };
  assert.deepEqual(listFaults({ ...standalone, firewall, installed, renewal: null }), []);
});

test('does not need port 80 where no authority validates by http', () => {
  const firewall = { tool: 'ufw', openPorts: [443] } as const;
  assert.deepEqual(listFaults({ ...proxied, firewall, renewal: null }), []);
  const byDns = { ...renewal, authenticator: 'dns-cloudflare' };
  assert.deepEqual(listFaults({ ...proxied, firewall, renewal: byDns }), []);
});
