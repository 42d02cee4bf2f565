import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { lacksOpenssl } from '../../../test/certificates.ts';
import { FakeHost } from '../../../test/fake-host.ts';
import { paths } from '../paths.ts';
import { runProgram } from '../../system/run-program.ts';
import { detectCertificateUses, detectChallenged } from './certificates.ts';
import { createRoot, detect, DOMAIN, putFile } from './detect-host.fixture.ts';

const LIVE = '/etc/letsencrypt/live/a.example.test';

test('lists configurations that name a certificate of certbot, without files of an installation', async () => {
  using host = new FakeHost();
  host.write('/etc/letsencrypt/renewal/a.example.test.conf', `cert = ${LIVE}/cert.pem\n`);
  host.write(paths.nginxServer, `ssl_certificate ${LIVE}/fullchain.pem;\n`);
  host.write(paths.renewalHook, `lineage='${LIVE}'\n`);
  host.write('/etc/nginx/sites-available/mine', `ssl_certificate "${LIVE}/fullchain.pem";\n`);
  host.write('/etc/postfix/main.cf', 'smtpd_tls_security_level = may\n');
  symlinkSync(`${LIVE}/privkey.pem`, host.at('/etc/postfix/key.pem'));
  const found = await detectCertificateUses({ root: host.root, runProgram });
  assert.deepEqual(
    found.sort((one, other) => one.path.localeCompare(other.path)),
    [
      { name: 'a.example.test', path: '/etc/nginx/sites-available/mine' },
      { name: 'a.example.test', path: '/etc/postfix/key.pem' },
    ],
  );
});

test('lists the certificates whose renewal needs answers from our directory', () => {
  using host = new FakeHost();
  const [ours, theirs] = [`webroot_path = ${paths.challenges},\n`, 'webroot_path = /var/www,\n'];
  host.write('/etc/letsencrypt/renewal/a.example.test.conf', ours);
  host.write('/etc/letsencrypt/renewal/b.example.test.conf', theirs);
  assert.deepEqual(detectChallenged({ root: host.root }), ['a.example.test']);
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
    const find = async () => (await detect(root)).certificate;
    assert.deepEqual(await find(), {
      name: 'example.com',
      directory: '/etc/letsencrypt/live/example.com',
      expiresAt: readEnd(root, 'example.com'),
      isExpired: false,
      authenticator: 'dns-rfc2136',
      webroots: [],
    });
    putFile(
      root,
      `etc/letsencrypt/renewal/${DOMAIN}.conf`,
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
    const findFault = async (certificate: string, key: string) => {
      const facts = await detect(root, {}, { certificateFiles: { certificate, key } });
      return facts.givenCertificateFault;
    };
    assert.equal(await findFault(`${live}/good/fullchain.pem`, `${live}/good/privkey.pem`), null);
    assert.equal(
      await findFault(`${live}/good/fullchain.pem`, `${live}/late/privkey.pem`),
      `${live}/late/privkey.pem is not the key of ${live}/good/fullchain.pem: give the two that belong together.`,
    );
    assert.equal(
      await findFault(`${live}/else/fullchain.pem`, `${live}/else/privkey.pem`),
      `${live}/else/fullchain.pem is for DNS:other.example.com and not for ${DOMAIN}: give one that is.`,
    );
    assert.equal(
      await findFault(`${live}/late/fullchain.pem`, `${live}/late/privkey.pem`),
      `${live}/late/fullchain.pem expired on ${readEnd(root, 'late').toISOString()}: give one that is valid.`,
    );
    assert.match(
      (await findFault('/tls/empty.pem', '/tls/empty.pem')) ?? '',
      /cannot be used: the first is not in PEM\. Give a certificate/u,
    );
    assert.match(
      (await findFault(`${live}/good/fullchain.pem`, '/nowhere')) ?? '',
      /fullchain\.pem and \/nowhere cannot be used: there is no file \/nowhere\. Give/u,
    );
    assert.match(
      (await findFault('/tls', '/tls')) ?? '',
      /cannot be used: \/tls is not a file\. Give/u,
    );
  },
);

/** Creates a self-signed certificate among those of certbot. */
function makeCertificate(root: string, name: string, names: string, days: number): void {
  const directory = join(root, 'etc/letsencrypt/live', name);
  mkdirSync(directory, { recursive: true });
  const how = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=x -days ${days}`;
  const files = ['-keyout', 'privkey.pem', '-out', 'fullchain.pem'];
  const args = [...how.split(' '), '-addext', `subjectAltName=${names}`, ...files];
  execFileSync('openssl', args, { cwd: directory, stdio: 'ignore' });
}

function readEnd(root: string, name: string): Date {
  const file = join(root, 'etc/letsencrypt/live', name, 'fullchain.pem');
  return new X509Certificate(readFileSync(file)).validToDate;
}
