import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { X509Certificate } from 'node:crypto';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';

import { lacksOpenssl } from '../../../test/certificates.ts';
import { paths } from '../paths.ts';
import { type ProgramResult, type RunProgram, runProgram } from '../../system/run-program.ts';
import { detectAddresses, findAddresses } from './addresses.ts';
import { detectHost, findPackage, type Surroundings } from './detect-host.ts';
import { detectInstalled } from './installed.ts';
import { detectListeners } from './listeners.ts';

const DOMAIN = 'monitor.example.com';
/** Certificates of 30 days have expired by then, those of 300 have not. */
const NOW = new Date(Date.now() + 100 * 86_400_000);
const OPTIONS = { domain: DOMAIN, certificateFiles: null };

test('detects nothing on a bare machine, and changes nothing', async (t) => {
  const root = createRoot(t, {
    'etc/os-release': 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_ID="12"\nID=debian\n',
    'run/systemd/system/.keep': '',
    'usr/bin/apt-get': '#!',
    'proc/net/tcp': TABLE,
  });
  const facts = await detectHost({ root, runProgram: answer({}) }, OPTIONS, surroundings());
  assert.deepEqual(facts, {
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
});

test('reads the configuration of the agent, and the listener on its port', async (t) => {
  const yaml = `listen: 127.0.0.1:5000
interval_seconds: 7
tls:
  certificate_file: /etc/a.pem
  key_file: /etc/a.key
`;
  const files = { 'proc/net/tcp': `${TABLE}${line('0100007F:1388', '0A', 9)}` };
  const configuration = paths.configuration.slice(1);
  const detect = async (text: string) => {
    const root = createRoot(t, { ...files, [configuration]: text });
    const facts = await detectHost({ root, runProgram: answer({}) }, OPTIONS, surroundings());
    return [facts.configured, facts.listeners, facts.faults];
  };
  assert.deepEqual(await detect(yaml), [
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
  ]);
});

test('reports an invalid configuration as a fault', async (t) => {
  const root = createRoot(t, { [paths.configuration.slice(1)]: 'viewers: {tokens_flie: /a}\n' });
  const facts = await detectHost({ root, runProgram: answer({}) }, OPTIONS, surroundings());
  assert.equal(facts.configured, null);
  assert.match(facts.faults.join(), /tokens_flie is not a field here/u);
  assert.match(facts.faults.at(-1) ?? '', /^The agent would not start .* run this again\.$/u);
});

test('detects listeners of both families with address, process and unit', (t) => {
  const root = createRoot(t, {
    'proc/net/tcp': `${TABLE}${line('00000000:0050', '0A', 101)}${line('0100007F:1000', '0A', 102)}${line('0100007F:0050', '01', 103)}${line('00000000:0016', '0A', 104)}`,
    'proc/net/tcp6': `${TABLE}${line('00000000000000000000000000000000:01BB', '0A', 105)}${line('B80D0120000000000000000001000000:01BB', '0A', 106)}`,
    'proc/20/comm': 'nginx\n',
    'proc/20/cgroup': '0::/system.slice/nginx.service\n',
    'proc/21/comm': 'nginx\n',
    'proc/7/comm': 'MainThread\n',
    'proc/7/cgroup': '4:memory:/x\n1:name=systemd:/system.slice/latchkey-agent.service\n0::/\n',
  });
  link(root, 'proc/21/fd/3', 'socket:[101]');
  link(root, 'proc/20/fd/9', 'socket:[101]');
  link(root, 'proc/20/fd/10', 'socket:[105]');
  link(root, 'proc/20/fd/0', '/dev/null');
  link(root, 'proc/7/exe', '/usr/lib/latchkey-agent/lib/node (deleted)');
  link(root, 'proc/7/fd/20', 'socket:[102]');
  const nginx = { pid: 20, name: 'nginx', unit: 'nginx.service' };
  const agent = { pid: 7, name: 'node', unit: 'latchkey-agent.service' };
  assert.deepEqual(detectListeners({ root, runProgram }, [80, 443, 4096]), [
    { port: 80, address: '0.0.0.0', process: nginx },
    { port: 443, address: '::', process: nginx },
    { port: 443, address: '2001:db8::1', process: null },
    { port: 4096, address: '127.0.0.1', process: agent },
  ]);
});

test('removes control characters from the name of a listener', (t) => {
  const root = createRoot(t, {
    'proc/net/tcp': `${TABLE}${line('00000000:1000', '0A', 102)}`,
    'proc/7/comm': 'x\u001B[2J\u0007y\n',
  });
  link(root, 'proc/7/fd/20', 'socket:[102]');
  const [listener] = detectListeners({ root, runProgram }, [4096]);
  assert.equal(listener?.process?.name, 'x?[2J?y');
});

test('detects a port of this process on this machine', async (t) => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const [listener] = detectListeners({ root: '', runProgram }, [address.port]);
  assert.deepEqual(
    [listener?.address, listener?.port, listener?.process?.pid, listener?.process?.name],
    ['127.0.0.1', address.port, process.pid, 'node'],
  );
});

test('detects the version, files and warnings of a running nginx', async (t) => {
  const root = createRoot(t, {
    'etc/nginx/nginx.conf': 'events {}\n# configuration file /etc/passwd:\n',
    'etc/nginx/sites-available/shop': 'server { # Büro\n}',
    'etc/nginx/latin': Buffer.from('# B\xfcro\n', 'latin1'),
    'proc/net/if_inet6': '00000000000000000000000000000001 01 80 10 80 lo\n',
  });
  link(root, 'etc/nginx/sites-enabled/shop', join(root, 'etc/nginx/sites-available/shop'));
  const dump = [
    ['/etc/nginx/nginx.conf', 'events {}\n# configuration file /etc/passwd:\n'],
    ['/etc/nginx/sites-enabled/shop', 'server { # Büro\n}'],
    ['/etc/nginx/latin', '# B\u{FFFD}ro\n'],
  ]
    .map(([path, text]) => `# configuration file ${path}:\n${text}\n`)
    .join('');
  const warning = 'nginx: [warn] conflicting server name "a" on 0.0.0.0:80, ignored';
  const run = answer({
    'nginx -v': { stderr: 'nginx version: nginx/1.22.1\n' },
    'systemctl is-active --quiet nginx.service': {},
    'nginx -T': { stdout: dump, stderr: `${warning}\nnginx: the configuration file is ok\n` },
  });
  const { nginx, hasIpv6 } = await detectHost({ root, runProgram: run }, OPTIONS, surroundings());
  assert.equal(hasIpv6, true);
  assert.deepEqual(
    [nginx?.version, nginx?.isRunning, nginx?.warnings, nginx?.fault],
    ['1.22.1', true, [warning], null],
  );
  const shop = nginx?.files.find(({ path }) => path === '/etc/nginx/sites-enabled/shop');
  assert.deepEqual(shop, {
    path: '/etc/nginx/sites-enabled/shop',
    realPath: '/etc/nginx/sites-available/shop',
    text: 'server { # Büro\n}',
    isWritable: true,
  });
  assert.equal(nginx?.files[0]?.path, '/etc/nginx/nginx.conf');
  const latin = nginx?.files.find(({ path }) => path === '/etc/nginx/latin');
  assert.equal(latin?.isWritable, false, 'writing it back would change its characters');
});

test('quotes why nginx rejects its configuration, and does not test that of a stopped nginx', async (t) => {
  const root = createRoot(t, {});
  const version = { stderr: 'nginx version: nginx/1.26.3 (Ubuntu)\n' };
  const broken = answer({
    'nginx -v': version,
    'systemctl is-active --quiet nginx.service': {},
    'nginx -T': {
      code: 1,
      stderr:
        'nginx: [warn] x\nnginx: [emerg] unknown directive "servr" in /etc/nginx/nginx.conf:3\nnginx: configuration file test failed\n',
    },
  });
  const facts = await detectHost({ root, runProgram: broken }, OPTIONS, surroundings());
  assert.deepEqual(facts.nginx, {
    version: '1.26.3',
    isRunning: true,
    files: [],
    warnings: ['nginx: [warn] x'],
    fault: 'nginx: [emerg] unknown directive "servr" in /etc/nginx/nginx.conf:3',
    foreign: null,
  });
  const asked: string[] = [];
  const stopped = answer({ 'nginx -v': version }, asked);
  const other = await detectHost({ root, runProgram: stopped }, OPTIONS, surroundings());
  assert.deepEqual([other.nginx?.isRunning, other.nginx?.files], [false, []]);
  assert.ok(!asked.includes('nginx -T'));
});

test('detects a firewall only when it refuses connections', async (t) => {
  const root = createRoot(t, {});
  const docker =
    'table ip filter { chain INPUT { type filter hook input priority 0; policy accept; } }';
  const cases: readonly (readonly [string, string, string])[] = [
    ['Status: active\n', docker, 'ufw'],
    ['Status: inactive\n', docker, 'none'],
    ['', docker.replace('accept', 'drop'), 'nft'],
    ['', 'table ip x { chain y { drop } }', 'none'],
  ];
  for (const [ufw, rules, expected] of cases) {
    const run = answer({ 'ufw status': { stdout: ufw }, 'nft list ruleset': { stdout: rules } });
    const { firewall } = await detectHost({ root, runProgram: run }, OPTIONS, surroundings());
    assert.equal(firewall, expected, ufw + rules);
  }
});

test('detects firewalld and legacy iptables', async (t) => {
  const root = createRoot(t, { 'proc/net/ip_tables_names': 'nat\nfilter\n' });
  const detect = async (results: Parameters<typeof answer>[0]) =>
    (await detectHost({ root, runProgram: answer(results) }, OPTIONS, surroundings())).firewall;
  const rules = { stdout: 'table inet firewalld { chain x { type filter hook input; drop } }' };
  const running = { 'firewall-cmd --state': { stdout: 'running\n' }, 'nft list ruleset': rules };
  assert.equal(await detect(running), 'firewalld');
  const drop = { stdout: '-P INPUT DROP\n-A INPUT -i lo -j ACCEPT\n' };
  assert.equal(await detect({ 'iptables-legacy -S INPUT': drop }), 'iptables');
  const accept = { stdout: '-P INPUT ACCEPT\n-A INPUT -j DOCKER\n' };
  assert.equal(await detect({ 'iptables-legacy -S INPUT': accept }), 'none');
});

test('detects what an enforced SELinux allows a web server', async (t) => {
  const detect = async (enforce: string, results: Parameters<typeof answer>[0]) => {
    const root = createRoot(t, { 'sys/fs/selinux/enforce': enforce });
    return (await detectHost({ root, runProgram: answer(results) }, OPTIONS, surroundings()))
      .selinux;
  };
  assert.equal(await detect('0', {}), null);
  assert.deepEqual(await detect('1', {}), {
    webServerMayConnect: false,
    webServerMayReadChallenges: false,
  });
  const label = `${paths.challenges}\tsystem_u:object_r:httpd_sys_content_t:s0\n`;
  const allowed = {
    'getsebool httpd_can_network_connect': { stdout: 'httpd_can_network_connect --> on\n' },
    [`matchpathcon ${paths.challenges}`]: { stdout: label },
  };
  assert.deepEqual(await detect('1', allowed), {
    webServerMayConnect: true,
    webServerMayReadChallenges: true,
  });
});

test(
  "certbot's certificate of the domain is found, else one of another name that covers it and lasts",
  { skip: lacksOpenssl },
  async (t) => {
    const root = createRoot(t, {
      'etc/letsencrypt/renewal/example.com.conf': 'authenticator = dns-rfc2136\n',
      'etc/letsencrypt/renewal/old.example.com.conf': 'authenticator = standalone\n',
      'etc/letsencrypt/renewal/other.example.com.conf': 'authenticator = standalone\n',
      'etc/letsencrypt/renewal/broken.conf': 'authenticator = standalone\n',
      'etc/letsencrypt/live/broken/fullchain.pem': 'no certificate',
      'etc/letsencrypt/renewal/README': 'text',
    });
    makeCertificate(root, 'example.com', `DNS:example.com,DNS:*.example.com`, 300);
    makeCertificate(root, 'old.example.com', `DNS:${DOMAIN}`, 30);
    makeCertificate(root, 'other.example.com', 'DNS:other.example.com', 400);
    const find = async () =>
      (await detectHost({ root, runProgram: answer({}) }, OPTIONS, surroundings())).certificate;
    assert.deepEqual(await find(), {
      name: 'example.com',
      directory: '/etc/letsencrypt/live/example.com',
      expiresAt: readEnd(root, 'example.com'),
      isExpired: false,
      authenticator: 'dns-rfc2136',
      webroots: [],
    });
    writeFileSync(
      join(root, `etc/letsencrypt/renewal/${DOMAIN}.conf`),
      `[renewalparams]\nauthenticator = webroot\nwebroot_path = /var/www/html,\n[[webroot_map]]\n${DOMAIN} = /var/lib/latchkey-agent-challenges/\n`,
    );
    makeCertificate(root, DOMAIN, `DNS:${DOMAIN}`, 30);
    assert.deepEqual(await find(), {
      name: DOMAIN,
      directory: `/etc/letsencrypt/live/${DOMAIN}`,
      expiresAt: readEnd(root, DOMAIN),
      isExpired: true,
      authenticator: 'webroot',
      webroots: ['/var/www/html', '/var/lib/latchkey-agent-challenges'],
    });
  },
);

test(
  'reports each problem with a given certificate in one sentence',
  { skip: lacksOpenssl },
  async (t) => {
    const root = createRoot(t, { 'tls/empty.pem': '' });
    makeCertificate(root, 'good', `DNS:${DOMAIN}`, 300);
    makeCertificate(root, 'late', `DNS:${DOMAIN}`, 30);
    makeCertificate(root, 'else', 'DNS:other.example.com', 300);
    const live = '/etc/letsencrypt/live';
    const judge = async (certificate: string, key: string) => {
      const options = { domain: DOMAIN, certificateFiles: { certificate, key } };
      const run = { root, runProgram: answer({}) };
      return (await detectHost(run, options, surroundings())).givenCertificateFault;
    };
    assert.equal(await judge(`${live}/good/fullchain.pem`, `${live}/good/privkey.pem`), null);
    assert.equal(
      await judge(`${live}/good/fullchain.pem`, `${live}/late/privkey.pem`),
      `${live}/late/privkey.pem is not the key of ${live}/good/fullchain.pem: give the two that belong together.`,
    );
    assert.equal(
      await judge(`${live}/else/fullchain.pem`, `${live}/else/privkey.pem`),
      `${live}/else/fullchain.pem is for DNS:other.example.com and not for ${DOMAIN}: give one that is.`,
    );
    assert.equal(
      await judge(`${live}/late/fullchain.pem`, `${live}/late/privkey.pem`),
      `${live}/late/fullchain.pem expired on ${readEnd(root, 'late').toISOString()}: give one that is valid.`,
    );
    assert.match(
      (await judge('/tls/empty.pem', '/tls/empty.pem')) ?? '',
      /cannot be used: the first is not in PEM\. Give a certificate/u,
    );
    assert.match(
      (await judge(`${live}/good/fullchain.pem`, '/nowhere')) ?? '',
      /fullchain\.pem and \/nowhere cannot be used: there is no file \/nowhere\. Give/u,
    );
    assert.match(
      (await judge('/tls', '/tls')) ?? '',
      /cannot be used: \/tls is not a file\. Give/u,
    );
  },
);

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
  writeFileSync(join(root, place), '{"version": "1');
  const { installed, fault } = detectInstalled({ root });
  assert.equal(installed, null);
  assert.match(
    fault ?? '',
    /^\/var\/lib\/latchkey-agent-install\/installed\.json is damaged, .*: remove that file/u,
  );
});

test('finds the package by its own Node.js', (t) => {
  const root = createRoot(t, {
    'p/bin/latchkey-agent': '',
    'q/bin/node': '',
  });
  assert.equal(findPackage(join(root, 'p/lib/node')), join(root, 'p'));
  assert.equal(findPackage(join(root, 'q/bin/node')), null);
});

test('returns no address for an unknown or loopback name, within seconds', async () => {
  const startedAtMs = performance.now();
  assert.deepEqual((await findAddresses('monitor.invalid')).addresses, []);
  assert.deepEqual((await findAddresses('localhost')).addresses, []);
  assert.ok(performance.now() - startedAtMs < 10_000);
});

test('returns the addresses of this machine that others may reach', () => {
  for (const address of detectAddresses()) assert.doesNotMatch(address, /^(?:127\.|::1$|fe80:)/u);
});

const TABLE =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';

function line(local: string, state: string, inode: number): string {
  return `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0000000000000000 100 0 0 10 0\n`;
}

function createRoot(t: TestContext, files: Readonly<Record<string, string | Buffer>>): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'latchkey-detect-')));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    if (path.includes('bin/')) chmodSync(join(root, path), 0o755);
  }
  return root;
}

function link(root: string, path: string, target: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  symlinkSync(target, join(root, path));
}

function makeCertificate(root: string, name: string, names: string, days: number): void {
  const directory = join(root, 'etc/letsencrypt/live', name);
  mkdirSync(directory, { recursive: true });
  const files = [
    '-keyout',
    join(directory, 'privkey.pem'),
    '-out',
    join(directory, 'fullchain.pem'),
  ];
  const config = join(directory, 'config');
  writeFileSync(config, `[req]\ndistinguished_name=name\n[name]\n`);
  const command = [
    'req',
    '-x509',
    '-config',
    config,
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    '/CN=x',
  ];
  execFileSync(
    'openssl',
    [...command, '-addext', `subjectAltName=${names}`, ...files, '-days', `${days}`],
    { stdio: 'ignore' },
  );
}

function readEnd(root: string, name: string): Date {
  const file = join(root, 'etc/letsencrypt/live', name, 'fullchain.pem');
  return new X509Certificate(readFileSync(file)).validToDate;
}

/** Returns a program runner with these results; other programs are missing. */
function answer(
  answers: Readonly<Record<string, Partial<ProgramResult>>>,
  asked: string[] = [],
): RunProgram {
  return async (program, args) => {
    const command = [program, ...args].join(' ');
    asked.push(command);
    const missing = { code: null, fault: `${program} is not on this machine.`, isMissing: true };
    const found = { code: 0, fault: null, isMissing: false, ...answers[command] };
    return { stdout: '', stderr: '', ...(command in answers ? found : missing) };
  };
}

function surroundings(): Surroundings {
  return {
    now: NOW,
    isRoot: true,
    packageDirectory: '/opt/package',
    addresses: ['192.0.2.7'],
    findAddresses: async (name) => ({ addresses: [`of ${name}`], resolverFault: null }),
  };
}
