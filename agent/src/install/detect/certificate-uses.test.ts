import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { test } from 'node:test';

import { FakeHost } from '../../../test/fake-host.ts';
import { paths } from '../paths.ts';
import { runProgram } from '../../system/run-program.ts';
import { detectCertificateUses, detectChallenged } from './certificates.ts';

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
