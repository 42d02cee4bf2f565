import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';

import { CertificateFixture, lacksOpenssl } from '../../test/certificates.ts';
import { openStream } from '../../test/stream-harness.ts';
import type { AgentConfig } from '../config/config.ts';
import { readTlsMaterial } from '../tls/tls-files.ts';
import { checkOrigins } from './checks/origins.ts';
import { assertOnly, configuration, standalone } from './examine.fixture.ts';
import { inspectOrigins } from './inspect/origins.ts';

const CONSOLE = 'https://console.example.com';
const path = '/etc/latchkey-agent/agent.yaml';

/** A configuration that allows origins. */
function allow(origins: readonly string[], changes: Partial<AgentConfig> = {}): AgentConfig {
  const read = configuration('0.0.0.0');
  assert.ok(read.kind === 'read');
  return { ...read.config, allowedOrigins: new Set(origins), ...changes };
}

function inspect(config: AgentConfig) {
  return { ...standalone, configuration: configuration('0.0.0.0', { config }) };
}

const served = { origin: CONSOLE, isAllowedByAgent: true, isPassedByProxy: null };

test('reports an origin that the running agent has not read', () => {
  const origins = [{ ...served, isAllowedByAgent: false }];
  const cause = 'The list was changed after the running agent read it.';
  const inspection = { ...inspect(allow([CONSOLE])), origins };
  assertOnly(inspection, 'origins', 'problem', cause, /^latchkey-agent reload$/u);
});

test('reports a web server that hides the origin or the answer', () => {
  const origins = [{ ...served, isPassedByProxy: false }];
  const cause =
    'The web server in front of the agent does not forward the header Origin, or not Access-Control-Allow-Origin of the answer.';
  assertOnly({ ...inspect(allow([CONSOLE])), origins }, 'origins', 'problem', cause, /reload the/u);
});

test('warns of all origins with client certificates, and of pages without TLS', () => {
  const clients = { authorityFile: '/ca.pem', revocationFile: null };
  const { tls } = allow([]);
  const all = `${path} allows pages of all origins ("*"), and browsers show the certificate to each.`;
  const mutual = inspect(allow(['*'], { tls: { ...tls, clients } }));
  assertOnly(mutual, 'origins', 'warning', all, /origins remove "\*"/u);
  const plain = `${path} allows http://wall.example.com, whose scripts are sent without TLS and can be replaced.`;
  const fix = /origins add https:\/\/wall\.example\.com && latchkey-agent origins remove http:/u;
  assertOnly(inspect(allow(['http://wall.example.com'])), 'origins', 'warning', plain, fix);
});

/** Returns the state and the message of the check when the agent applies the list. */
function check(origins: readonly string[]): string {
  const finding = checkOrigins({ ...inspect(allow(origins)), origins: [] });
  return 'message' in finding ? `${finding.state}: ${finding.message}` : finding.cause;
}

test('accepts listed origins, none, and a page of this computer', () => {
  assert.equal(check([]), 'ok: No pages of other sites may watch.');
  assert.equal(
    check([CONSOLE, 'http://localhost:3000']),
    `ok: Pages may watch: ${CONSOLE}, http://localhost:3000.`,
  );
});

describe('the inspection of origins', { skip: lacksOpenssl }, () => {
  const fixture = new CertificateFixture();
  after(() => fixture[Symbol.dispose]());
  const tls = readTlsMaterial({ ...fixture.createRoot('root').issueServer(), clients: null });

  test('asks the running agent as a page would', async () => {
    const readRules = () => ({ isToken: () => false, allowedOrigins: new Set([CONSOLE]) });
    await using stream = await openStream({ tls, readRules });
    const listen = { host: '0.0.0.0', port: stream.port };
    const config = allow([CONSOLE, 'https://new.example.com', '*'], { listen });
    assert.deepEqual(await inspectOrigins(config, null, null, null), [
      served,
      { ...served, origin: 'https://new.example.com', isAllowedByAgent: false },
    ]);
    await stream.server.close();
    assert.equal((await inspectOrigins(config, null, null, null))[0]?.isAllowedByAgent, null);
  });
});
