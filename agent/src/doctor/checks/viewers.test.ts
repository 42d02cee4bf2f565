import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseConfig } from '../../config/load-config.ts';
import { checkViewers } from './agent.ts';

const TLS = 'tls: { certificate_file: /c.pem, key_file: /k.pem }\n';

async function check(viewers: string) {
  const path = '/etc/latchkey-agent/agent.yaml';
  const config = await parseConfig(`${TLS}${viewers}`, path);
  const findings = { problems: [], warnings: [] };
  return checkViewers({
    configuration: { kind: 'read', path, config, findings, unreadable: [] },
  });
}

test('warns of an agent without restricted viewers, with the fix', async () => {
  const finding = await check('');
  assert.ok('fix' in finding);
  assert.equal(finding.state, 'warning');
  assert.match(finding.fix, /latchkey-agent install --mtls; or set viewers\.tokens_file/u);
});

test('accepts an agent that requires certificates or tokens', async () => {
  const required = 'viewers: { certificates: required, authority_file: /ca.pem }\n';
  for (const viewers of [required, 'viewers: { tokens_file: /tokens }\n'])
    assert.equal((await check(viewers)).state, 'ok');
});

test('skips the check of viewers with an invalid configuration', () => {
  const configuration = { kind: 'invalid', path: '/x', problems: [] } as const;
  assert.equal(checkViewers({ configuration }).state, 'skipped');
});
