/** Servers with certificates of an authority that only NODE_EXTRA_CA_CERTS names. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { SMTPServer } from 'smtp-server';

import { lacksOpenssl, type Certificate } from '../../../agent/test/certificates.ts';

import { runDoctor } from '../doctor-process.ts';
import { listenOnFreePort } from '../ports.ts';
import { openCommandLine } from '../test-command-line.ts';
import { createCertificates, type Certificates } from '../tls-outcomes.ts';

const commandLine = await openCommandLine();

let certificates: Certificates;
const relays: SMTPServer[] = [];

before(() => {
  if (lacksOpenssl === false) certificates = createCertificates();
});

after(() => {
  for (const relay of relays) relay.close(() => {});
  certificates?.[Symbol.dispose]();
});

/** Starts a relay that uses TLS from the start, or after STARTTLS; returns its port. */
async function startRelay(secure: boolean, { cert, key }: Certificate): Promise<number> {
  const relay = new SMTPServer({ secure, cert, key, disabledCommands: ['AUTH'] });
  relay.on('error', () => {});
  relays.push(relay);
  return listenOnFreePort(relay.server);
}

function examine(smtpUrl: string, isTrusted: boolean) {
  return runDoctor('mail', {
    ...commandLine.settings,
    LATCHKEY_SMTP_URL: smtpUrl,
    LATCHKEY_MAIL_FROM: 'shop@example.com',
    ...(isTrusted ? { NODE_EXTRA_CA_CERTS: certificates.root.certificateFile } : {}),
  });
}

describe('a mail relay of a private authority', { skip: lacksOpenssl }, () => {
  test('is trusted through NODE_EXTRA_CA_CERTS alone, which the fix says', async () => {
    const url = `smtps://localhost:${await startRelay(true, certificates.server)}`;
    const [refused] = await examine(url, false);
    assert.equal(
      refused?.cause,
      'The relay has a certificate of an authority that is not trusted here.',
    );
    assert.match(refused?.fix ?? '', /^Write .* set NODE_EXTRA_CA_CERTS to the path/u);
    const [accepted] = await examine(url, true);
    assert.equal(accepted?.status, 'ok', accepted?.cause);
  });

  test('is refused under another name, also with STARTTLS', async () => {
    const url = `smtp://localhost:${await startRelay(false, certificates.otherName)}`;
    const [refused] = await examine(url, true);
    assert.equal(
      refused?.cause,
      'The relay has a certificate for other host names (db.example.com).',
    );
    assert.match(refused?.fix ?? '', /^Use one of those names as host in LATCHKEY_SMTP_URL/u);
  });
});
