/** Texts of customers and clients in the answers to operators: JSON without exceptions, so that no browser runs them. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, test } from 'node:test';

import { runRollups } from '#server/features/analytics/rollups/run-rollups.ts';

import { createKey } from '../api-key-steps.ts';
import { startTestService } from '../harness.ts';
import type { Answer } from '../http-client.ts';
import { activate, startTrial } from '../license-steps.ts';
import { openBrowser, type Browser } from '../operator-steps.ts';

const service = await startTestService();

/** Markup, a script, a formula, a template, text from right to left, a terminal's control sequence, and a long name. */
const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '=HYPERLINK("https://evil.example.com")',
  '{{constructor.constructor("alert(1)")()}}',
  '\u202Egnp.exe مرحبا 👩‍👩‍👧',
  '\u001B[31mred',
  'x'.repeat(10_000),
];

interface Stored {
  readonly email: string;
  readonly machineId: string;
  readonly installId: string;
  readonly licenseId: string;
  readonly licenseKey: string;
}

/** Stores a hostile text wherever customers and clients can store one. */
async function store(text: string): Promise<Stored> {
  const email = `${randomUUID()}@example.com`;
  const { license, licenseKey } = await service.issue({ customerEmail: email, customerName: text });
  await service.pool.query('update licenses set note = $1 where id = $2', [text, license.id]);
  const machineId = `${randomUUID()} ${text}`.slice(0, 1_000);
  const [os, version] = [text.slice(0, 200), text.slice(0, 100)];
  const fingerprint = { machine_id: machineId, os_version: os, app_version: version };
  const { activation_id: activationId } = await activate(service, licenseKey, fingerprint);
  const installId = randomUUID();
  await service.pool.query('update activations set install_id = $1 where id = $2', [
    installId,
    activationId,
  ]);
  await startTrial(service, { ...fingerprint, machine_id: `trial ${machineId}`.slice(0, 1_000) });
  await service.post('/api/v1/usage/heartbeat', {
    machine_id: machineId,
    machine_fingerprint: fingerprint,
  });
  await service.post('/api/v1/events', {
    install_id: installId,
    session_id: randomUUID(),
    app_version: version,
    events: [
      {
        event_id: randomUUID(),
        name: 'note_saved',
        occurred_at: service.clock.now().toISOString(),
        props: { text: text.slice(0, 500) },
      },
    ],
  });
  return { email, machineId, installId, licenseId: license.id, licenseKey };
}

const query = (path: string, parameters: Readonly<Record<string, string>>): string =>
  `/api/v1/admin/${path}?${new URLSearchParams(parameters).toString()}`;

/** The reads that show texts of everybody. */
const READS_OF_ALL = [query('trials/report', {}), query('overview', {})];

/** The reads that show the texts of one person. */
function listReads({ email, installId, licenseId, machineId }: Stored): string[] {
  return [
    query('search', { q: email }),
    query('search', { q: machineId.slice(0, 40) }),
    query('search', { q: licenseId }),
    query('customer', { email }),
    query('machine', { id: machineId }),
    `/api/v1/admin/installs/${installId}`,
    `/api/v1/admin/installs/${installId}/events`,
    query('trials', { search: `trial ${machineId.slice(0, 40)}` }),
  ];
}

function assertHarmless(path: string, { headers, status, text }: Answer): void {
  assert.equal(status, 200, `${path} ${text.slice(0, 300)}`);
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8', path);
  assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
  assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/u, path);
  JSON.parse(text);
}

let viewer: Browser;
let support: Browser;
const stored = new Map<string, Stored>();

before(async () => {
  viewer = await openBrowser(service, 'viewer');
  support = await openBrowser(service, 'support');
  for (const text of HOSTILE) stored.set(text, await store(text));
  await runRollups(service.context, { signal: new AbortController().signal, everything: true });
});

test('answers with JSON that holds the texts unchanged', async () => {
  for (const path of READS_OF_ALL) assertHarmless(path, await viewer.get(path));
  for (const [text, each] of stored) {
    for (const path of listReads(each)) assertHarmless(path, await viewer.get(path));
    const { body } = await viewer.get(query('customer', { email: each.email }));
    assert.ok(JSON.stringify(body).includes(JSON.stringify(text).slice(1, -1)), text.slice(0, 40));
  }
});

test('sends files as attachments, which no browser shows', async () => {
  for (const each of stored.values()) {
    const reason = 'a test';
    for (const [path, body] of [
      ['/api/v1/admin/customer/export', { email: each.email, reason }],
      [`/api/v1/admin/installs/${each.installId}/export`, { reason }],
    ] as const) {
      const { headers, status, text } = await support.post(path, body);
      assert.equal(status, 200, path);
      assert.match(headers.get('content-disposition') ?? '', /^attachment; filename="\w+\.json"$/u);
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      JSON.parse(text);
    }
  }
  const csv = await support.get('/api/v1/admin/trials/export');
  assert.match(csv.headers.get('content-disposition') ?? '', /^attachment/u);
  for (const cell of csv.text.split(/[\r\n,]/u)) assert.doesNotMatch(cell, /^[=+@]/u);
  assert.ok(!csv.text.includes('\u001B'));
});

test('shows no key and no hash of one, to any role', async () => {
  const one = stored.get(HOSTILE[0] ?? '');
  assert.ok(one !== undefined);
  const secret = one.licenseKey.split('-').slice(1, 5).join('-');
  for (const role of ['viewer', 'support', 'admin'] as const) {
    const browser = await openBrowser(service, role);
    for (const path of [...listReads(one), ...READS_OF_ALL]) {
      const { text } = await browser.get(path);
      assert.ok(!text.includes(secret), path);
      assert.doesNotMatch(text, /key_sealed|key_hash|entitlement_proof|components/u, path);
    }
  }
});

test('a guessed id answers every role alike, found or not', async () => {
  const { apiKey } = await createKey(service, { scopes: ['outreach:send'] });
  for (const path of [
    `/api/v1/admin/installs/${randomUUID()}`,
    query('machine', { id: randomUUID() }),
    query('search', { q: randomUUID() }),
    query('customer', { email: `${randomUUID()}@example.com` }),
  ]) {
    assert.equal((await service.get(path)).status, 401, path);
    assert.equal((await service.get(path, { 'x-api-key': apiKey })).status, 403, path);
    assert.equal((await viewer.get(path)).status, 200, path);
  }
  for (const [path, body] of [
    ['customer/erase', { email: 'a@example.com', reason: 'x' }],
    ['customer/plan-erasure', { email: 'a@example.com' }],
    ['machine/erase', { id: 'x', reason: 'x' }],
    [`installs/${randomUUID()}/erase`, { reason: 'x' }],
  ] as const) {
    for (const browser of [viewer, support]) {
      assert.equal((await browser.post(`/api/v1/admin/${path}`, body)).status, 403, path);
    }
  }
});
