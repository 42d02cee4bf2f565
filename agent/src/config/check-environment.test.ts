import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import { findPort } from '../../test/agent-program.ts';
import { lacksOpenssl, Workshop } from '../../test/certificates.ts';
import { checkEnvironment } from './check-environment.ts';
import { parseConfig } from './load-config.ts';

const DAY_MS = 86_400_000;

describe('what a configuration needs of the machine', { skip: lacksOpenssl }, () => {
  const workshop = new Workshop();
  after(() => workshop[Symbol.dispose]());

  test('an authority that expired is a problem, and a warning where another one is good', async () => {
    const [old, young] = [workshop.makeRoot('old'), workshop.makeRoot('young').makeServer(90)];
    const server = old.makeServer(90);
    const authorityFile = join(workshop.directory, 'authorities.pem');
    const config = await parseConfig(
      `listen: 127.0.0.1:${await findPort()}
tls: { certificate_file: ${server.certificateFile}, key_file: ${server.keyFile} }
viewers: { certificates: required, authority_file: ${authorityFile} }
`,
      'agent.yaml',
    );
    const { validToDate } = new X509Certificate(old.own.cert);
    const later = new Date(validToDate.getTime() + DAY_MS);
    const sentence = `${authorityFile} holds an authority (CN=old) that expired on ${validToDate.toISOString()}: whom it signed is not let in.`;
    writeFileSync(authorityFile, old.own.cert);
    assert.deepEqual(await checkEnvironment(config, validToDate), { problems: [], warnings: [] });
    assert.deepEqual(await checkEnvironment(config, later), { problems: [sentence], warnings: [] });
    writeFileSync(authorityFile, old.own.cert + young.cert);
    assert.deepEqual(await checkEnvironment(config, later), { problems: [], warnings: [sentence] });
  });
});
