import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';

import { eventually } from '../eventually.ts';
import { createExternalHome, type ExternalHome } from '../external-service.ts';
import { createHttpClient, type Answer, type HttpClient } from '../http-client.ts';
import { activate, anyMachine, anyUnknownKey, deactivate, startTrial } from '../license-steps.ts';
import { issueKeys, type ServiceProcess } from '../service-process.ts';

const TOKEN = 'a token of the metrics scraper';
const MAX_MACHINES = 3;
const CONCURRENT_CALLS = 200;

let external: ExternalHome;
let service: ServiceProcess;
let client: HttpClient;
let licenseKey = '';
/** Texts that the log must not contain. */
const confidential: string[] = [];
const requestIds: string[] = [];

before(async () => {
  external = await createExternalHome();
  service = await external.start({
    LATCHKEY_METRICS_PORT: '0',
    LATCHKEY_METRICS_TOKEN: TOKEN,
    LATCHKEY_LOG_LEVEL: 'debug',
  });
  client = recordIds(createHttpClient(service.url));
  const order = { count: 1, maxActivations: MAX_MACHINES };
  [licenseKey = ''] = await issueKeys(external.home, order, external.settings);
  confidential.push(licenseKey);
});

after(() => external[Symbol.asyncDispose]());

async function recordId(answering: Promise<Answer>): Promise<Answer> {
  const answer = await answering;
  requestIds.push(answer.headers.get('x-request-id') ?? '');
  return answer;
}

/** Records the ids of all requests. */
function recordIds(plain: HttpClient): HttpClient {
  return {
    send: (...request) => recordId(plain.send(...request)),
    get: (...request) => recordId(plain.get(...request)),
    post: (...request) => recordId(plain.post(...request)),
  };
}

/** Returns the URL of the metrics' own port, which is in the log. */
async function metricsUrl(): Promise<string> {
  const line = await service.waitForLine(/metrics\.listening/u);
  const [, port] = /"port":(\d+)/u.exec(line) ?? [];
  return `http://127.0.0.1:${port}/metrics`;
}

/** Returns the samples by name and labels. */
async function scrape(): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(await metricsUrl());
  assert.equal(response.status, 200);
  return parseSamples(await response.text());
}

function parseSamples(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(' ');
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

function namesOf(samples: ReadonlyMap<string, number>): ReadonlySet<string> {
  return new Set([...samples.keys()].map((key) => key.replace(/\{.*/u, '')));
}

const requests = (route: string, status: number, method = 'POST') =>
  `latchkey_http_request_duration_seconds_count{route="${route}",method="${method}",status="${status}"}`;
const refusals = (operation: string, reason: string) =>
  `latchkey_refusals_total{operation="${operation}",reason="${reason}"}`;
const carried = (batch: string) => `latchkey_batch_size_sum{batch="${batch}"}`;
const batches = (batch: string) => `latchkey_batch_size_count{batch="${batch}"}`;
const waiting = (queue: string) => `latchkey_queue_depth{queue="${queue}"}`;

function pick(samples: ReadonlyMap<string, number>, names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, samples.get(name)]));
}

async function validate(activationId: string, machineId: string): Promise<void> {
  const answer = await client.post('/api/v1/licenses/validate', {
    license_key: licenseKey,
    activation_id: activationId,
    machine_id: machineId,
  });
  assert.equal(answer.status, 200);
}

/** Sends a known number of each kind of request. */
async function sendKnownRequests(): Promise<{ activationId: string; machineId: string }> {
  const machines = Array.from({ length: MAX_MACHINES }, anyMachine);
  const [machine = anyMachine(), second = anyMachine()] = machines;
  const activations = [];
  for (const each of machines) activations.push(await activate(client, licenseKey, each));
  const [activationId = '', secondId = ''] = activations.map((each) => each.activation_id);
  const refused = async (key: string) => {
    confidential.push(key);
    const body = { license_key: key, machine_fingerprint: anyMachine() };
    return (await client.post('/api/v1/licenses/activate', body)).status;
  };
  assert.deepEqual([await refused(licenseKey), await refused(licenseKey)], [409, 409]);
  assert.equal(await refused(anyUnknownKey()), 404);
  for (let count = 0; count < 10; count += 1) await validate(activationId, machine.machine_id);
  for (let count = 0; count < 2; count += 1) await validate(activationId, 'another machine');
  await deactivate(client, licenseKey, secondId, second.machine_id);
  const trial = await startTrial(client, { machine_id: 'a machine on trial' });
  await client.post('/api/v1/trial/start', { machine_fingerprint: {} });
  for (let count = 0; count < 4; count += 1) await client.get(`/nowhere/${licenseKey}`);
  await client.get(`/api/v1/licenses/${licenseKey}/activations`);
  confidential.push(...machines.map((each) => each.machine_id), 'a machine on trial');
  confidential.push(trial.license_key);
  return { activationId, machineId: machine.machine_id };
}

test('counts requests, refusals and batches exactly; concurrent requests share batches', async () => {
  const { activationId, machineId } = await sendKnownRequests();
  const samples = await scrape();
  const expected = {
    [requests('/api/v1/licenses/activate', 200)]: MAX_MACHINES,
    [requests('/api/v1/licenses/activate', 409)]: 2,
    [requests('/api/v1/licenses/activate', 404)]: 1,
    [requests('/api/v1/licenses/validate', 200)]: 12,
    [requests('/api/v1/licenses/deactivate', 200)]: 1,
    [requests('/api/v1/trial/start', 200)]: 1,
    [requests('/api/v1/trial/start', 422)]: 1,
    [requests('/api/v1/licenses/:license_key/activations', 200, 'GET')]: 1,
    [requests('none', 404, 'GET')]: 4,
    [refusals('activate', 'activation_limit_reached')]: 2,
    [refusals('license_lookup', 'license_not_found')]: 1,
    [refusals('validate', 'machine_mismatch')]: 2,
    [carried('license_validations')]: 12,
    [carried('trials')]: 1,
    [waiting('license_lookups')]: 0,
    [waiting('license_validations')]: 0,
    [waiting('activations')]: 0,
    [waiting('trials')]: 0,
  };
  assert.deepEqual(pick(samples, Object.keys(expected)), expected);

  await Promise.all(
    Array.from({ length: CONCURRENT_CALLS }, () => validate(activationId, machineId)),
  );
  const later = await scrape();
  const grown = (name: string) => (later.get(name) ?? 0) - (samples.get(name) ?? 0);
  assert.equal(grown(carried('license_validations')), CONCURRENT_CALLS);
  const used = grown(batches('license_validations'));
  // How many calls share a batch depends on how fast this process sends them.
  assert.ok(used >= 1 && used < CONCURRENT_CALLS, `${used} batches for ${CONCURRENT_CALLS} calls`);
});

test('measures latencies by route, in consistent buckets', async () => {
  const samples = await scrape();
  const labels = 'route="/api/v1/licenses/validate",method="POST",status="200"';
  const name = 'latchkey_http_request_duration_seconds';
  const count = samples.get(`${name}_count{${labels}}`) ?? 0;
  assert.equal(count, 12 + CONCURRENT_CALLS);
  const buckets = [...samples].filter(
    ([key]) => key.startsWith(`${name}_bucket{le=`) && key.endsWith(`,${labels}}`),
  );
  const values = buckets.map(([, value]) => value);
  assert.ok(values.length > 10);
  assert.deepEqual(
    values,
    values.toSorted((a, b) => a - b),
  );
  assert.equal(samples.get(`${name}_bucket{le="+Inf",${labels}}`), count);
  const mean = (samples.get(`${name}_sum{${labels}}`) ?? 0) / count;
  assert.ok(mean > 0.0001 && mean < 5, `${mean} s`);
});

test('serves the same metrics on the port of the service, with the token only', async () => {
  const refused = await client.get('/metrics');
  assert.equal(refused.status, 401);
  assert.match(refused.headers.get('www-authenticate') ?? '', /^Bearer/u);
  const wrong = await client.get('/metrics', { authorization: `Bearer ${TOKEN}?` });
  assert.equal(wrong.status, 401);
  // A series may start between the two readings.
  await eventually(async () => {
    const granted = await client.get('/metrics', { authorization: `Bearer ${TOKEN}` });
    assert.equal(granted.status, 200);
    return isDeepStrictEqual(namesOf(parseSamples(granted.text)), namesOf(await scrape()));
  });
});

const own = (samples: ReadonlyMap<string, number>, name: string) => samples.get(`latchkey_${name}`);

test('shows the facts of the installation', async () => {
  await eventually(async () => {
    const samples = await scrape();
    return (
      Number(own(samples, 'licenses{status="active"}')) > 0 &&
      samples.has('latchkey_database_size_bytes')
    );
  });
  const samples = await scrape();
  assert.equal(own(samples, 'licenses{status="revoked"}'), 0);
  const nowSeconds = Date.now() / 1_000;
  const until = own(samples, 'event_partitions_until_timestamp_seconds') ?? 0;
  assert.ok(until > nowSeconds + 6 * 86_400 && until < nowSeconds + 9 * 86_400, String(until));
  assert.ok((own(samples, 'signing_key_active_from_timestamp_seconds') ?? 0) <= nowSeconds);
  // There was no backup, and no rotation; the free space is that of the embedded database.
  for (const name of ['backup_last_success', 'signing_key_retires', 'disk_free']) {
    assert.deepEqual(
      [...samples.keys()].filter((each) => each.startsWith(`latchkey_${name}`)),
      [],
    );
  }
});

/** The two words that a pattern captures, in order. */
function pairsOf(text: string, pattern: RegExp): string[] {
  return Array.from(text.matchAll(pattern), ([, name, type]) => `${name} ${type}`).toSorted();
}

test('has the metrics of the document, with their types', async () => {
  const page = await readFile(
    new URL('../../../docs/operations/metrics.md', import.meta.url),
    'utf8',
  );
  const documented = pairsOf(page, /^\| `(latchkey_\w+)` +\| (\w+)/gmu);
  const text = await (await fetch(await metricsUrl())).text();
  assert.deepEqual(pairsOf(text, /^# TYPE (latchkey_\w+) (\w+)$/gmu), documented);
});

test('logs every request at debug as JSON with its id, without confidential data', async () => {
  await client.get('/');
  const [last = ''] = requestIds.slice(-1);
  await service.waitForLine(new RegExp(last, 'u'));
  const entries = service.lines.map((line): unknown => JSON.parse(line));
  const logged = new Set<unknown>();
  for (const entry of entries) {
    assert.ok(typeof entry === 'object' && entry !== null && 'level' in entry && 'time' in entry);
    assert.ok('event' in entry, JSON.stringify(entry));
    if (entry.event === 'request.completed' && 'requestId' in entry) logged.add(entry.requestId);
  }
  assert.deepEqual(
    requestIds.filter((id) => !logged.has(id)),
    [],
  );
  const everything = service.lines.join('\n');
  for (const word of [...confidential, TOKEN]) {
    assert.ok(!everything.includes(word), `the log contains ${word}`);
  }
});
