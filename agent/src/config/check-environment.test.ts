import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import { findFreePort } from '../../test/find-free-port.ts';
import { lacksOpenssl, CertificateFixture } from '../../test/certificates.ts';
import { checkEnvironment } from './check-environment.ts';
import { explainListenError } from './config.ts';
import { parseConfig } from './load-config.ts';

const DAY_MS = 86_400_000;
const lacksRoot = process.geteuid?.() === 0 ? false : 'needs root';

test('explains why a port cannot be opened, with the fix', () => {
  const listen = { host: '0.0.0.0', port: 443 };
  const explain = (code: string) =>
    explainListenError(Object.assign(new Error(code), { code }), listen);
  assert.deepEqual(['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL'].map(explain), [
    'Port 443 is in use by another program: stop it, or change listen.',
    'This account may not use port 443: choose a port from 1024, or grant CAP_NET_BIND_SERVICE.',
    null,
  ]);
});

describe('check of the environment', { skip: lacksOpenssl }, () => {
  const fixture = new CertificateFixture();
  after(() => fixture[Symbol.dispose]());

  test('warns of a privileged port', { skip: lacksRoot }, async () => {
    const { certificateFile, keyFile } = fixture.createRoot('root').issueServer(90);
    const tls = `tls: { certificate_file: ${certificateFile}, key_file: ${keyFile} }\n`;
    const findFor = async (port: number) => {
      const config = await parseConfig(`listen: 127.0.0.99:${port}\n${tls}`, 'agent.yaml');
      const { problems, warnings } = await checkEnvironment(config, new Date());
      return [problems, warnings.filter(({ code }) => code !== 'viewers_unrestricted')];
    };
    assert.deepEqual(await findFor(443), [
      [],
      [
        {
          code: 'port_privileged',
          message:
            'Port 443 needs root, and the service does not run as root: choose a port from 1024, or grant CAP_NET_BIND_SERVICE.',
        },
      ],
    ]);
    assert.deepEqual(await findFor(4096), [[], []]);
  });

  test('reports an expired authority as a problem, or as a warning beside a valid one', async () => {
    const [old, young] = [fixture.createRoot('old'), fixture.createRoot('young').issueServer(90)];
    const server = old.issueServer(90);
    const authorityFile = join(fixture.directory, 'authorities.pem');
    const config = await parseConfig(
      `listen: 127.0.0.1:${await findFreePort()}
tls: { certificate_file: ${server.certificateFile}, key_file: ${server.keyFile} }
viewers: { certificates: required, authority_file: ${authorityFile} }
`,
      'agent.yaml',
    );
    const { validToDate } = new X509Certificate(old.own.cert);
    const later = new Date(validToDate.getTime() + DAY_MS);
    const message = `${authorityFile} contains an authority (CN=old) that expired on ${validToDate.toISOString()}: its certificates are rejected.`;
    const expired = { code: 'authority_expired', message };
    writeFileSync(authorityFile, old.own.cert);
    assert.deepEqual(await checkEnvironment(config, validToDate), { problems: [], warnings: [] });
    assert.deepEqual(await checkEnvironment(config, later), { problems: [expired], warnings: [] });
    writeFileSync(authorityFile, old.own.cert + young.cert);
    assert.deepEqual(await checkEnvironment(config, later), { problems: [], warnings: [expired] });
  });
});
