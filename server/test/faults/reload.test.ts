import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import type { LicenseActivateResponse } from '@latchkey/contract';
import { decodeProtectedHeader } from 'jose';
import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { eventually } from '../eventually.ts';
import { createExternalHome, type ExternalHome } from '../external-service.ts';
import { activate } from '../license-steps.ts';
import { createHttpClient, type HttpClient } from '../http-client.ts';
import { issueKeys, type ServiceProcess, type Settings } from '../service-process.ts';

let external: ExternalHome;
let settings: Settings;
let service: ServiceProcess;
let client: HttpClient;
let licenseKey = '';
let catalogPath = '';

before(async () => {
  external = await createExternalHome();
  catalogPath = join(external.home.directory, 'catalog.yaml');
  settings = { ...external.settings, LATCHKEY_CATALOG: catalogPath };
  await writeFile(catalogPath, catalogWith('[history]'));
  service = await external.start(settings);
  client = createHttpClient(service.url);
  [licenseKey = ''] = await issueKeys(external.home, { count: 1, maxActivations: 100 }, settings);
});

after(() => external[Symbol.asyncDispose]());

function catalogWith(features: string): string {
  return [
    'key_prefix: LK',
    'trial: { product: personal, features: [history] }',
    'products:',
    '  - id: personal',
    '    name: Personal',
    '    product_type: personal',
    '    tier: personal',
    `    features: ${features}`,
    '    max_activations: 2',
    '',
  ].join('\n');
}

/** Reloads and waits for the line of its outcome in the log. */
async function reload(pattern: RegExp): Promise<string> {
  const seen = service.lines.length;
  const listNew = () => service.lines.slice(seen);
  const isOutcome = (line: string) => pattern.test(line);
  service.send('SIGHUP');
  await eventually(() => listNew().some(isOutcome), {
    describe: () => `no line like ${pattern}: ${listNew().join('\n')}`,
  });
  return listNew().find(isOutcome) ?? '';
}

async function activateOnce(): Promise<LicenseActivateResponse> {
  return activate(client, licenseKey);
}

test('SIGHUP applies a new catalogue without a restart', async () => {
  assert.deepEqual((await activateOnce()).features, ['history']);
  await writeFile(catalogPath, catalogWith('[history, gpu]'));
  await reload(/catalog\.reloaded/u);
  assert.deepEqual((await activateOnce()).features, ['history', 'gpu']);
});

test('keeps the catalogue after an invalid one, and logs its line', async () => {
  await writeFile(catalogPath, catalogWith('history'));
  const line = await reload(/catalog\.reload_failed/u);
  assert.match(line, /"level":"error"/u);
  assert.match(line, /catalog\.yaml:8: products\[0\]\.features must be/u);
  assert.deepEqual((await activateOnce()).features, ['history', 'gpu']);
});

test('keeps the catalogue after a missing or binary file', async () => {
  await writeFile(catalogPath, Buffer.from([0xff, 0xfe, 0x00, 0x01]));
  await reload(/catalog\.reload_failed/u);
  await rm(catalogPath);
  await reload(/cannot be read/u);
  assert.deepEqual((await activateOnce()).features, ['history', 'gpu']);
  await writeFile(catalogPath, catalogWith('[history, gpu]'));
});

const KeySet = Type.Object({ keys: Type.Array(Type.Object({ kid: Type.String() })) });

test('SIGHUP applies a rotated signing key', async () => {
  const earlier = await listKeyIds();
  assert.equal(await signingKeyId(), earlier[0]);
  const rotate = ['signing-key', 'rotate', '--immediately', '--reason', 'it leaked'];
  await external.home.run(rotate, settings);
  service.send('SIGHUP');
  await eventually(async () => (await listKeyIds()).length === 2);
  const signer = await signingKeyId();
  assert.notEqual(signer, earlier[0]);
  assert.deepEqual(await listKeyIds(), [...earlier, signer]);
});

async function listKeyIds(): Promise<string[]> {
  const answer = await client.get('/.well-known/jwks.json');
  return Parse(KeySet, answer.body).keys.map(({ kid }) => kid);
}

async function signingKeyId(): Promise<string | undefined> {
  const { entitlement } = await activateOnce();
  return decodeProtectedHeader(entitlement ?? '').kid;
}
