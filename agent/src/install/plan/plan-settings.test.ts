import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseConfig, SETTING_NAMES } from '../../config/load-config.ts';
import type { HostFacts, InstalledFacts } from '../facts.ts';
import type { InstallOptions } from '../options.ts';
import { paths } from '../paths.ts';
import { BARE, configure, installedIn, OPTIONS, OVER_HTTPS, withNginx } from './hosts.fixture.ts';
import { planInstall } from './plan-install.ts';

const INSTALLED = installedIn('standalone');

const FILES = { certificate: '/a.pem', key: '/a.key' };

/** Installations that rewrite the configuration, one for each reason. */
const REWRITES: readonly (readonly [string, InstallOptions, HostFacts])[] = [
  ['another domain', { ...OPTIONS, domain: 'other.example.com', certificateFiles: FILES }, BARE],
  ['another mode', { ...OPTIONS, mode: 'proxy' }, withNginx(OVER_HTTPS)],
  ['mutual TLS', { ...OPTIONS, mutualTls: true, certificateFiles: FILES }, BARE],
];

/**
 * A value of the administrator for each setting that an installation keeps. Null: the installation sets it,
 * by its domain, mode and mutual TLS, which other tests prove.
 */
const OWN: Readonly<Record<string, unknown>> = {
  listen: null,
  interval_seconds: 30,
  control_socket: '/run/own.sock',
  'tls.certificate_file': null,
  'tls.key_file': null,
  'tls.server_name': null,
  'viewers.certificates': null,
  'viewers.authority_file': null,
  'viewers.revocation_file': null,
  'viewers.refuse_in_handshake': null,
  'viewers.tokens_file': '/etc/latchkey-agent/tokens',
  'viewers.allowed_origins': ['https://console.example.com'],
  'limits.connections': 11,
  'limits.connections_per_address': 3,
};

function plan(
  options: InstallOptions,
  facts: HostFacts,
  settings: Readonly<Record<string, unknown>>,
  installed: InstalledFacts | null = INSTALLED,
) {
  const files = { 'tls.certificate_file': paths.certificate, 'tls.key_file': paths.certificateKey };
  return planInstall(options, {
    ...facts,
    installed,
    configured: configure({ ...files, ...settings }),
  });
}

/** Returns the text of agent.yaml that a plan writes. */
function textOf(made: ReturnType<typeof planInstall>): string {
  assert.ok(made.kind === 'plan', JSON.stringify(made));
  const step = made.steps.find((each) => 'path' in each && each.path === paths.configuration);
  assert.ok(step?.kind === 'file' && !step.keepsExisting);
  return step.text;
}

test('covers every setting of the configuration', () => {
  assert.deepEqual(Object.keys(OWN).sort(), [...SETTING_NAMES].sort());
});

for (const [why, options, facts] of REWRITES) {
  test(`keeps every setting of the administrator with ${why}`, async () => {
    for (const [name, value] of Object.entries(OWN)) {
      if (value === null) continue;
      const text = textOf(plan(options, facts, { [name]: value }));
      await parseConfig(text, 'agent.yaml');
      const field = name.slice(name.indexOf('.') + 1);
      const [, written = ''] = new RegExp(`^ *${field}: (.*)$`, 'mu').exec(text) ?? [];
      assert.equal(written.replaceAll('"', ''), JSON.stringify(value).replaceAll('"', ''), name);
    }
  });

  test(`keeps tokens required with ${why}, even without a known earlier installation`, async () => {
    for (const installed of [INSTALLED, null]) {
      const tokens = { 'viewers.tokens_file': '/etc/tokens' };
      const { tokensFile } = await parseConfig(textOf(plan(options, facts, tokens, installed)), '');
      assert.equal(tokensFile, '/etc/tokens');
    }
  });
}

test('notes the settings that an installation changes', () => {
  const [, options, facts] = REWRITES[1] ?? assert.fail();
  const made = plan(options, facts, { 'viewers.tokens_file': '/etc/tokens' });
  assert.ok(made.kind === 'plan');
  const notes = made.notes.filter((note) => note.includes('is rewritten'));
  assert.equal(notes.length, 1);
  assert.match(
    notes[0] ?? '',
    /only these change: listen: 127\.0\.0\.1:4096 instead of 0\.0\.0\.0:4096\)/u,
  );
});

test('prefers the requested interval to the configured one', () => {
  const [, options, facts] = REWRITES[0] ?? assert.fail();
  const made = plan({ ...options, scrapeIntervalSeconds: 9 }, facts, { interval_seconds: 30 });
  assert.match(textOf(made), /^interval_seconds: 9$/mu);
});

test('keeps a listen address within its mode, and a certificate with its domain', async () => {
  const own = { 'tls.certificate_file': '/etc/own.pem', 'tls.key_file': '/etc/own.key' };
  const facts = { ...BARE, installed: INSTALLED };
  const configured = configure(own, { host: '203.0.113.2', port: 5000 });
  const options = { ...OPTIONS, certificateFiles: FILES };
  const mutual = planInstall({ ...options, mutualTls: true }, { ...facts, configured });
  const config = await parseConfig(textOf(mutual), 'agent.yaml');
  assert.deepEqual(config.listen, { host: '203.0.113.2', port: 5000 });
  assert.equal(config.tls.certificateFile, '/etc/own.pem');
  const other = planInstall({ ...options, domain: 'b.example.com' }, { ...facts, configured });
  const moved = await parseConfig(textOf(other), 'agent.yaml');
  assert.equal(moved.tls.certificateFile, paths.certificate);
  assert.equal(moved.serverName, 'b.example.com');
});

const OWN_AUTHORITY = {
  'viewers.certificates': 'required',
  'viewers.authority_file': '/etc/own-ca.pem',
  'viewers.revocation_file': '/etc/own-crl.pem',
  'viewers.refuse_in_handshake': true,
};

test('keeps required client certificates of the administrator’s authority', async () => {
  const [, options, facts] = REWRITES[0] ?? assert.fail();
  const config = await parseConfig(textOf(plan(options, facts, OWN_AUTHORITY)), 'agent.yaml');
  assert.deepEqual(config.tls.clients, {
    authorityFile: '/etc/own-ca.pem',
    revocationFile: '/etc/own-crl.pem',
  });
  assert.equal(config.refusesInHandshake, true);
});

test('refuses to drop required client certificates', () => {
  const [, domain, proxy, mutual] = [null, ...REWRITES];
  assert.ok(domain !== undefined && proxy !== undefined && mutual !== undefined);
  const ours = { ...OWN_AUTHORITY, 'viewers.authority_file': paths.authorityCertificate };
  const refusals = [
    plan(mutual[1], mutual[2], OWN_AUTHORITY),
    plan(proxy[1], proxy[2], OWN_AUTHORITY),
    plan(domain[1], domain[2], ours, null),
  ].map((made) => (made.kind === 'refusal' ? made.reasons.join() : made.kind));
  assert.match(refusals[0] ?? '', /--mtls would replace that authority .*--mtls no/u);
  assert.match(refusals[1] ?? '', /a reverse proxy cannot forward.*--mode standalone/u);
  assert.match(refusals[2] ?? '', /this installation would not: install with --mtls/u);
});

test('removes installed mutual TLS with --mtls no', async () => {
  const [, , facts] = REWRITES[0] ?? assert.fail();
  const ours = { ...OWN_AUTHORITY, 'viewers.authority_file': paths.authorityCertificate };
  const options = { ...OPTIONS, certificateFiles: FILES };
  const made = plan(options, facts, ours, { ...INSTALLED, mutualTls: true });
  const { tls, refusesInHandshake } = await parseConfig(textOf(made), 'agent.yaml');
  assert.deepEqual([tls.clients, refusesInHandshake], [null, false]);
});

/** Whether a plan notes that anyone may watch. */
function isOpen(options: InstallOptions, settings: Readonly<Record<string, unknown>>): boolean {
  const found = plan(options, BARE, settings);
  assert.ok(found.kind === 'plan');
  return found.notes.some((note) => note.startsWith('Anyone who reaches the address may watch:'));
}

test('notes unrestricted viewers, unless certificates or tokens are required', () => {
  const options = { ...OPTIONS, certificateFiles: FILES };
  assert.equal(isOpen(options, {}), true);
  assert.equal(isOpen(options, { 'viewers.tokens_file': null }), true);
  assert.equal(isOpen(options, { 'viewers.tokens_file': '/etc/latchkey-agent/tokens' }), false);
  assert.equal(isOpen({ ...options, mutualTls: true }, {}), false);
});

test('writes the origins of an installation, replaces them in a rewrite, and only reports them otherwise', () => {
  const origins = ['https://console.example.com', 'https://wall.example.com'];
  const options = { ...OPTIONS, allowedOrigins: origins };
  const line = `allowed_origins: ${JSON.stringify(origins)}`;
  const fresh = planInstall(options, BARE);
  assert.ok(textOf(fresh).includes(line));
  const own = { 'viewers.allowed_origins': ['https://old.example.com'] };
  const moved = plan(
    { ...options, domain: 'other.example.com', certificateFiles: FILES },
    BARE,
    own,
  );
  assert.ok(textOf(moved).includes(line));
  const kept = plan(options, BARE, own);
  assert.ok(kept.kind === 'plan');
  const note = `${paths.configuration} is kept, so the allowed origins are not changed: use latchkey-agent origins add and remove.`;
  assert.ok(kept.notes.includes(note), kept.notes.join('\n'));
  const same = plan(options, BARE, { 'viewers.allowed_origins': origins });
  assert.ok(same.kind === 'plan' && !same.notes.includes(note));
});
