import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { paths } from '../paths.ts';
import {
  type Answers,
  createRoot,
  detect,
  DOMAIN,
  putFile,
  TCP_HEADER,
  tcpLine,
} from './detect-host.fixture.ts';
import { findPackage } from './detect-host.ts';
import { detectInstalled } from './installed.ts';

test('detects nothing on a bare machine, and changes nothing', async (t) => {
  const root = createRoot(t, {
    'etc/os-release': 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_ID="12"\nID=debian\n',
    'run/systemd/system/.keep': '',
    'usr/bin/apt-get': '#!',
    'proc/net/tcp': TCP_HEADER,
  });
  const files = readdirSync(root, { recursive: true });
  assert.deepEqual(await detect(root), {
    isRoot: true,
    hasSystemd: true,
    hasApt: true,
    hasCertbot: false,
    hasOpenssl: false,
    smartctl: null,
    nvidiaModprobe: null,
    packageDirectory: '/opt/package',
    distribution: { id: 'debian', versionId: '12', name: 'Debian GNU/Linux 12 (bookworm)' },
    hasIpv6: false,
    listeners: [],
    nginx: null,
    firewall: 'none',
    isPort80Refused: false,
    selinux: null,
    addresses: ['192.0.2.7'],
    domainAddresses: [`of ${DOMAIN}`],
    resolverFault: null,
    certificate: null,
    certificateUses: [],
    challenged: [],
    givenCertificateFault: null,
    installed: null,
    configured: null,
    faults: [],
  });
  assert.deepEqual(readdirSync(root, { recursive: true }), files);
});

test('reads the configuration of the agent, and the listener on its port', async (t) => {
  const yaml = `listen: 127.0.0.1:5000
interval_seconds: 7
tls:
  certificate_file: /etc/a.pem
  key_file: /etc/a.key
`;
  const root = createRoot(t, {
    'proc/net/tcp': `${TCP_HEADER}${tcpLine('0100007F:1388', '0A', 9)}`,
    [paths.configuration]: yaml,
  });
  const { configured, listeners, faults } = await detect(root);
  assert.deepEqual(
    [configured, listeners, faults],
    [
      {
        host: '127.0.0.1',
        port: 5000,
        intervalSeconds: 7,
        viewersPerAddress: 64,
        settings: new Map<string, unknown>([
          ['listen', '127.0.0.1:5000'],
          ['interval_seconds', 7],
          ['tls.certificate_file', '/etc/a.pem'],
          ['tls.key_file', '/etc/a.key'],
        ]),
      },
      [{ port: 5000, address: '127.0.0.1', process: null }],
      [],
    ],
  );
});

test('reports an invalid configuration as a fault', async (t) => {
  const root = createRoot(t, { [paths.configuration]: 'viewers: {tokens_flie: /a}\n' });
  const facts = await detect(root);
  assert.equal(facts.configured, null);
  assert.match(facts.faults.join(), /tokens_flie is not a field here/u);
  assert.match(facts.faults.at(-1) ?? '', /^The agent would not start .* run this again\.$/u);
});

test('detects what an enforced SELinux allows a web server', async (t) => {
  const detectSelinux = async (enforce: string, results: Answers) => {
    const root = createRoot(t, { 'sys/fs/selinux/enforce': enforce });
    return (await detect(root, results)).selinux;
  };
  assert.equal(await detectSelinux('0', {}), null);
  assert.deepEqual(await detectSelinux('1', {}), {
    webServerMayConnect: false,
    webServerMayReadChallenges: false,
  });
  const label = `${paths.challenges}\tsystem_u:object_r:httpd_sys_content_t:s0\n`;
  const allowed = {
    'getsebool httpd_can_network_connect': { stdout: 'httpd_can_network_connect --> on\n' },
    [`matchpathcon ${paths.challenges}`]: { stdout: label },
  };
  assert.deepEqual(await detectSelinux('1', allowed), {
    webServerMayConnect: true,
    webServerMayReadChallenges: true,
  });
});

test('reports a damaged register as a fault', (t) => {
  const place = 'var/lib/latchkey-agent-install/installed.json';
  const good = {
    version: '1.0.0',
    mode: 'proxy',
    domain: DOMAIN,
    proxyPath: '/a',
    mutualTls: true,
    proxyByHand: false,
    certificateFiles: null,
    skipsDnsCheck: false,
  };
  const root = createRoot(t, { [place]: JSON.stringify(good) });
  assert.deepEqual(detectInstalled({ root }), { installed: good, fault: null });
  putFile(root, place, '{"version": "1');
  const { installed, fault } = detectInstalled({ root });
  assert.equal(installed, null);
  assert.match(
    fault ?? '',
    /^\/var\/lib\/latchkey-agent-install\/installed\.json is damaged, .*: remove that file/u,
  );
});

test('finds the package by its own Node.js', (t) => {
  const root = createRoot(t, { 'p/bin/latchkey-agent': '', 'q/bin/node': '' });
  assert.equal(findPackage(join(root, 'p/lib/node')), join(root, 'p'));
  assert.equal(findPackage(join(root, 'q/bin/node')), null);
});

test('refuses to replace the program of a Debian package, which may install itself', async (t) => {
  const list = `/.\n/usr/lib\n${paths.program}\n${paths.program}/bin\n`;
  const root = createRoot(t, { 'var/lib/dpkg/info/latchkey-agent.list': list });
  const { faults } = await detect(root);
  assert.match(faults.join(), /^The Debian package latchkey-agent is installed/u);
  assert.deepEqual((await detect(root, {}, { packageDirectory: paths.program })).faults, []);
});
