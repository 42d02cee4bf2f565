import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from '../../config/load-config.ts';
import type { HostFacts } from '../facts.ts';
import type { InstallOptions } from '../options.ts';
import { paths } from '../paths.ts';
import {
  BARE,
  applyToFacts,
  configure,
  DOMAIN,
  installedIn,
  keep,
  listenOn,
  OPTIONS,
  OVER_HTTP,
  OVER_HTTPS,
  runNginx,
  SHOP,
  withNginx,
} from './hosts.fixture.ts';
import type { Plan } from './plan.ts';
import { planInstall } from './plan-install.ts';
import {
  SERVICE,
  YAML,
  HOOK,
  STANDALONE,
  LIMITS,
  EXISTING,
  HOSTS,
  outline,
  describe,
} from './outline.fixture.ts';

for (const [name, facts, expected] of HOSTS) {
  for (const mode of ['auto', 'standalone', 'proxy'] as const) {
    test(`plans exactly these steps for ${name} in mode ${mode}`, () => {
      assert.deepEqual(outline({ ...OPTIONS, mode }, facts), expected[mode]);
    });
  }
}

test('plans a forced standalone mode like a chosen one', () => {
  for (const [name, facts, expected] of HOSTS) {
    const options = { ...OPTIONS, forcesStandalone: true };
    assert.deepEqual(outline(options, facts), expected.standalone, name);
  }
});

test('installs only the agent behind a manual proxy', () => {
  const apache = { ...BARE, listeners: [listenOn(80, 'apache2'), listenOn(443, 'apache2')] };
  const manual = planInstall(OPTIONS, apache);
  assert.ok(manual.kind === 'manual');
  assert.match(
    manual.instructions,
    /--proxy-by-hand \(LATCHKEY_PROXY_BY_HAND=yes\)[\s\S]*ProxyPass/u,
  );
  const options = { ...OPTIONS, proxyByHand: true, email: null };
  const alone = EXISTING.slice(0, EXISTING.indexOf(LIMITS));
  assert.deepEqual(outline(options, apache), alone);
  const { mode, installed } = accept(options, apache);
  assert.deepEqual([mode, installed.proxyByHand], ['proxy', true]);
  assert.deepEqual(outline(options, withNginx(OVER_HTTPS)), alone);
});

test('adds the authority and its timer with mutual TLS', () => {
  const units = ['service', 'timer'].map(
    (kind) => `file /etc/systemd/system/latchkey-agent-revocations.${kind}`,
  );
  const [unit = '', service = ''] = SERVICE;
  const withAuthority = (steps: readonly string[], authority: string) =>
    steps.flatMap((step) => {
      if (step === YAML) return [authority, YAML];
      if (step === unit) return [unit, ...units];
      return step === service ? [service, 'service latchkey-agent-revocations.timer'] : [step];
    });
  const options = { ...OPTIONS, mutualTls: true };
  assert.deepEqual(outline(options, BARE), withAuthority(STANDALONE, 'authority'));
  const behind = withAuthority(EXISTING, "authority with the proxy's certificate");
  assert.deepEqual(outline(options, withNginx(OVER_HTTPS)), behind);
});

test('listens on every address standalone, and on loopback behind a proxy', async () => {
  const hosts = { standalone: BARE, proxy: withNginx(SHOP) };
  for (const mode of ['standalone', 'proxy'] as const) {
    for (const mutualTls of [false, true]) {
      const plan = accept({ ...OPTIONS, mutualTls, scrapeIntervalSeconds: 5 }, hosts[mode]);
      const config = await parseConfig(
        readFile(plan, '/etc/latchkey-agent/agent.yaml'),
        'agent.yaml',
      );
      assert.equal(config.listen.host, mode === 'standalone' ? '0.0.0.0' : '127.0.0.1');
      assert.equal(config.tls.clients !== null, mutualTls);
      assert.equal(config.intervalSeconds, 5);
      assert.equal(plan.mode, mode);
    }
  }
});

test('needs no certbot, e-mail address, port 80 or DNS for a given certificate', () => {
  const certificateFiles = { certificate: '/etc/ssl/a.pem', key: '/etc/ssl/a.key' };
  const options = { ...OPTIONS, email: null, certificateFiles };
  const plain = STANDALONE.filter((step) => !/certbot|^certificate|renewal-hooks/u.test(step));
  const own = plain.map((step) =>
    step.replace(/^own-certificate .*/u, 'own-certificate /etc/ssl/a.pem'),
  );
  const taken = { ...BARE, listeners: [listenOn(80, 'apache2')], domainAddresses: [] };
  assert.deepEqual(outline({ ...options, mode: 'standalone' }, taken), own);
  const behind = accept(options, withNginx(SHOP));
  assert.match(
    readFile(behind, '/etc/nginx/conf.d/latchkey-agent.conf'),
    /ssl_certificate \/etc\/ssl\/a\.pem;/u,
  );
  assert.ok(!describe(behind.steps).some((step) => step.includes('challenge')));
  assert.match(
    accept(options, withNginx(OVER_HTTPS)).notes.join('\n'),
    /a\.pem is not used: nginx presents a certificate/u,
  );
});

test('reuses a certificate of certbot, and its renewal', () => {
  const options = { ...OPTIONS, email: null };
  const kept = { ...BARE, hasCertbot: true, certificate: keep('standalone') };
  const expected = STANDALONE.filter((step) => !/certbot|^certificate/u.test(step));
  assert.deepEqual(outline(options, kept), expected);
  const directory = '/etc/letsencrypt/live/example.com';
  const wide = { ...keep('dns-rfc2136'), name: 'example.com', directory };
  const plan = accept(options, { ...kept, certificate: wide });
  assert.match(
    readFile(plan, HOOK.slice(5)),
    /^lineage='\/etc\/letsencrypt\/live\/example\.com'$/mu,
  );
});

test('issues an expired or unrenewable certificate again', () => {
  const expired = { ...keep('standalone'), isExpired: true };
  assert.ok(outline(OPTIONS, { ...BARE, certificate: expired }).includes('certificate standalone'));
  const moved = { ...withNginx(SHOP), certificate: keep('standalone') };
  assert.ok(outline(OPTIONS, moved).includes('certificate webroot'));
  const alone = accept({ ...OPTIONS, email: null }, moved);
  assert.ok(!describe(alone.steps).some((step) => step.startsWith('certificate')));
  assert.match(
    alone.notes.join('\n'),
    /certbot renews the certificate monitor\.example\.com by standalone, which fails/u,
  );
  const ours = { ...BARE, certificate: keep('webroot', ['/var/lib/latchkey-agent-challenges']) };
  assert.ok(outline(OPTIONS, ours).includes('certificate standalone'));
});

test('does not answer challenges of a foreign webroot', () => {
  const theirs = { ...withNginx(OVER_HTTP), certificate: keep('webroot', ['/var/www/html']) };
  assert.ok(!outline(OPTIONS, theirs).some((step) => /challenge|certificate webroot/u.test(step)));
});

test('plans the same steps for a second run', () => {
  const hosts = [BARE, withNginx(SHOP), withNginx(OVER_HTTP), withNginx(OVER_HTTPS)];
  const variants = (['auto', 'standalone'] as const).flatMap((mode) =>
    [false, true].map((mutualTls) => ({ ...OPTIONS, mode, mutualTls })),
  );
  for (const facts of hosts) {
    for (const options of variants) {
      const first = accept(options, facts);
      const after = applyToFacts(first, facts);
      assertNothingLeft(first, accept(options, after));
      assertNothingLeft(first, accept({ ...options, mode: 'auto', email: null }, after));
    }
  }
});

test('keeps domain and mode in an upgrade, and notes a change', () => {
  const standalone = { ...BARE, installed: installedIn('standalone') };
  const later = {
    ...withNginx(SHOP),
    installed: installedIn('standalone'),
    configured: configure(),
    certificate: keep('dns-rfc2136'),
  };
  assert.equal(accept(OPTIONS, later).mode, 'standalone');
  const moved = accept({ ...OPTIONS, mode: 'proxy' }, later);
  assert.equal(moved.mode, 'proxy');
  const notes = moved.notes.join('\n');
  assert.match(
    notes,
    /The agent moves from standalone to proxy mode: steps that only the earlier installation needed are undone\./u,
  );
  assert.equal(readConfiguration(moved).keepsExisting, false, 'its address changed');
  assert.match(notes, /agent\.yaml is rewritten with your settings .* kept as .*\.before/u);
  const renamed = accept({ ...OPTIONS, domain: 'm2.example.com' }, standalone);
  assert.match(renamed.notes.join('\n'), /from monitor\.example\.com to m2\.example\.com/u);
  const stopped = {
    ...BARE,
    installed: installedIn('proxy'),
    nginx: { ...runNginx(), isRunning: false },
  };
  assert.match(
    refuse(OPTIONS, stopped).join('\n'),
    /^nginx is not running, .* start it \(systemctl start nginx\)/u,
  );
});

test('does not count the running agent as a blocker', () => {
  const process = { pid: 99, name: 'node', unit: 'latchkey-agent.service' };
  const running = { port: 4096, address: '0.0.0.0', process };
  assert.equal(
    accept(OPTIONS, { ...BARE, listeners: [running], installed: installedIn('standalone') }).mode,
    'standalone',
  );
});

test('refuses with one sentence and fix for each reason', () => {
  const broken = 'nginx: [emerg] unknown directive "servr" in /etc/nginx/nginx.conf:3';
  const cases: readonly (readonly [Partial<InstallOptions>, Partial<HostFacts>, string])[] = [
    [{}, { isRoot: false }, 'Only root can install: run it with sudo, or as root.'],
    [
      {},
      { hasSystemd: false },
      'systemd is not running, and the agent is one of its services: install on a machine that was booted with systemd.',
    ],
    [
      {},
      { packageDirectory: null },
      'This program was not started from its package, so there is nothing to install: unpack the package, and run bin/latchkey-agent install in it.',
    ],
    [
      {},
      { hasApt: false, distribution: { id: 'fedora', versionId: '42', name: 'Fedora Linux 42' } },
      'certbot is not installed, and this program installs packages on Debian and Ubuntu only (this is Fedora Linux 42): install certbot and run this again.',
    ],
    [
      {},
      {
        hasApt: false,
        hasOpenssl: false,
        hasCertbot: true,
        distribution: { id: '', versionId: '', name: '' },
      },
      'openssl is not installed, and this program installs packages on Debian and Ubuntu only (this is an unknown distribution): install openssl and run this again.',
    ],
    [
      {},
      { listeners: [listenOn(4096, 'java', '127.0.0.1')] },
      'Port 4096, which the agent needs, is used by java (process 4796, java.service): stop it (systemctl stop java.service) and run this again.',
    ],
    [
      { mode: 'standalone' },
      { listeners: [{ port: 80, address: '::', process: null }] },
      'Port 80, on which the authority validates, is used by a program that is not visible here: stop it and run this again, or give a certificate of your own with --cert-file and --key-file.',
    ],
    [
      { email: null },
      {},
      'The e-mail address for the certificate is missing: give it with --email or LATCHKEY_EMAIL, or give a certificate of your own with --cert-file and --key-file.',
    ],
    [{}, { givenCertificateFault: 'It expired.' }, 'It expired.'],
    [{}, { faults: ['It is damaged.'] }, 'It is damaged.'],
    [
      {},
      { ...withNginx(SHOP), nginx: { ...runNginx(), files: [], fault: broken } },
      `nginx rejects its current configuration, fix that first (nginx -t): ${broken}`,
    ],
  ];
  for (const [options, facts, expected] of cases) {
    assert.deepEqual(refuse({ ...OPTIONS, ...options }, { ...BARE, ...facts }), [expected]);
  }
});

test('returns instructions for a read-only configuration of nginx', () => {
  const fixed = withNginx({ ...OVER_HTTPS, isWritable: false });
  const manual = planInstall(OPTIONS, fixed);
  assert.ok(manual.kind === 'manual');
  assert.match(manual.reason, /cannot be written to/u);
  assert.match(manual.instructions, /^First install the agent itself .* --proxy-by-hand/u);
  assert.match(manual.instructions, /proxy_pass https:\/\/127\.0\.0\.1:4096/u);
});

test('objects to a certificate for a domain with another address, unless that is uncertain or accepted', () => {
  const elsewhere = { domainAddresses: ['198.51.100.9'] };
  const objection = `${DOMAIN} resolves to 198.51.100.9 and not to this machine (203.0.113.7): correct its record in the DNS, or skip this check with --skip-dns-check where a proxy or a router forwards port 80.`;
  assert.deepEqual(check(elsewhere), { notes: [], objections: [objection] });
  assert.deepEqual(check(elsewhere, { skipsDnsCheck: true }), { notes: [], objections: [] });
  assert.match(check({ domainAddresses: [] }).objections.join('\n'), /has no address in the DNS/u);
  const behind = check({ ...elsewhere, addresses: ['192.168.1.5', 'fd00::5'] });
  assert.deepEqual(behind.objections, []);
  assert.match(behind.notes.join('\n'), /has only private addresses/u);
  const inside = check({ domainAddresses: ['192.168.1.99'], addresses: ['192.168.1.5'] });
  assert.match(
    inside.objections.join('\n'),
    /resolves to 192\.168\.1\.99 and not to this machine/u,
  );
  const half = check({
    domainAddresses: ['203.0.113.7', '2001:db8:0::9'],
    addresses: ['203.0.113.7', '2001:db8::9'],
  });
  assert.deepEqual(half.objections, []);
  assert.ok(
    !half.notes.some((note) => note.includes('also leads')),
    'the same address, written otherwise',
  );
  const astray = check({ domainAddresses: ['203.0.113.7', '2001:db8::1'] });
  assert.match(
    astray.notes.join('\n'),
    /also resolves to 2001:db8::1, which is not an address of this machine/u,
  );
  assert.deepEqual(check({ ...elsewhere, certificate: keep('standalone') }).objections, []);
});

test('opens ports only on request, before the certificate needs them', () => {
  const guarded = { ...BARE, firewall: 'ufw' } as const;
  const withoutRequest = accept(OPTIONS, guarded);
  assert.ok(!withoutRequest.steps.some(({ kind }) => kind === 'firewall'));
  assert.match(
    withoutRequest.notes.join('\n'),
    /A firewall is active \(ufw\): ports 80 and 4096 must be open; open the closed ones \(ufw allow 80\/tcp; ufw allow 4096\/tcp\)/u,
  );
  const opened = outline({ ...OPTIONS, opensFirewall: true }, guarded);
  const at = opened.indexOf('certificate standalone');
  assert.deepEqual(opened.slice(at - 2, at), ['firewall 80', 'firewall 4096']);
  const behind = { ...withNginx(OVER_HTTPS), firewall: 'nft' } as const;
  const steps = outline({ ...OPTIONS, opensFirewall: true }, behind);
  assert.deepEqual(
    steps.filter((step) => step.startsWith('firewall')),
    ['firewall 443'],
  );
});

function accept(options: InstallOptions, facts: HostFacts): Plan {
  const plan = planInstall(options, facts);
  assert.ok(plan.kind === 'plan', JSON.stringify(plan));
  return plan;
}

function refuse(options: InstallOptions, facts: HostFacts): readonly string[] {
  const plan = planInstall(options, facts);
  assert.ok(plan.kind === 'refusal', JSON.stringify(plan));
  return plan.reasons;
}

/** Steps that the second plan lacks would be undone, except packages and certificates. */
function assertNothingLeft(first: Plan, second: Plan): void {
  assert.equal(second.mode, first.mode);
  const lasting = describe(first.steps).filter((step) => !/^(?:packages|certificate) /u.test(step));
  assert.deepEqual(describe(second.steps), lasting);
  assert.deepEqual(listTexts(second), listTexts(first));
  assert.equal(readConfiguration(second).keepsExisting, true);
  for (const step of second.steps) if (step.kind === 'edit') assert.equal(step.before, step.after);
}

/** Returns notes and objections for a bare machine with these facts and options. */
function check(facts: Partial<HostFacts>, options: Partial<InstallOptions> = {}) {
  const requested = { ...OPTIONS, mutualTls: true, ...options };
  const { notes, objections } = accept(requested, { ...BARE, ...facts });
  return { notes, objections };
}

function readFile({ steps }: Plan, path: string): string {
  const found = steps.find((step) => step.kind === 'file' && step.path === path);
  assert.ok(found?.kind === 'file', path);
  return found.text;
}

function readConfiguration({ steps }: Plan) {
  const found = steps.find((step) => 'path' in step && step.path === paths.configuration);
  assert.ok(found?.kind === 'file');
  return found;
}

function listTexts({ steps }: Plan): readonly string[] {
  return steps.flatMap((step) => (step.kind === 'file' ? [step.text] : []));
}
