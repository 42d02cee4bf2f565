import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseConfig } from '../../config/load-config.ts';
import { findAdmission, listNextSteps } from './next-steps.ts';

const installed = {
  version: '1.0.0',
  mode: 'proxy',
  domain: 'monitor.test',
  proxyPath: '/latchkey',
  mutualTls: false,
  proxyByHand: false,
  certificateFiles: null,
  skipsDnsCheck: false,
} as const;

/** Returns the printed line on who may watch with this configuration. */
async function describe(viewers: string): Promise<string | undefined> {
  const text = `tls: { certificate_file: /c.pem, key_file: /k.pem }\n${viewers}`;
  const admission = findAdmission(await parseConfig(text, 'agent.yaml'));
  return listNextSteps(installed, 4096, admission).find((line) => line.startsWith('Who may watch'));
}

test('lists who may watch, and how to restrict an open agent', async () => {
  assert.equal(
    await describe(''),
    'Who may watch        ANYONE who reaches this address. To restrict it: latchkey-agent install --mtls',
  );
  assert.equal(
    await describe('viewers: { tokens_file: /tokens }'),
    'Who may watch        viewers with an access token',
  );
  assert.equal(
    await describe('viewers: { certificates: required, authority_file: /ca.pem }'),
    'Who may watch        viewers with a client certificate',
  );
});
