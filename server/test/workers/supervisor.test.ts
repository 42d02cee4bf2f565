import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { eventually } from '../eventually.ts';
import { createExternalHome, type ExternalHome } from '../external-service.ts';
import type { ServiceProcess } from '../service-process.ts';
import { waitForBothWorkers } from './both-workers.ts';
import { lacksWorkers } from './lacks-workers.ts';
import { failuresOf, issueForLoad } from '../faults/loaded-service.ts';
import { startRecordedLoad } from '../faults/recorded-load.ts';
import { verifyLedger } from '../faults/verify-ledger.ts';

const TOKEN = 'a token of the metrics scraper';
const isRoot = process.getuid?.() === 0;
const CONNECTIONS = 8;
const REQUESTS =
  'latchkey_http_request_duration_seconds_count{route="/api/v1/health/live",method="GET",status="200"}';

let external: ExternalHome;
let service: ServiceProcess;
let keys: readonly string[];

/** Waits until a worker serves requests, and returns its process id. */
async function waitForWorker(number: number): Promise<number> {
  const line = await service.waitForLine(new RegExp(`"worker\\.started","worker":${number},`, 'u'));
  return Number(/"pid":(\d+)/u.exec(line)?.[1]);
}

async function readMetric(name: string): Promise<number> {
  const response = await fetch(`${service.url}/metrics`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const line = (await response.text()).split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length));
}

/** Returns the check of the workers in the health report. */
async function readWorkersCheck(): Promise<unknown> {
  const response = await fetch(`${service.url}/api/v1/health`);
  const Report = Type.Object({ checks: Type.Record(Type.String(), Type.Unknown()) });
  return Parse(Report, await response.json()).checks['workers'];
}

/** Sends one request over a connection that is kept; returns the status, or 0 when the connection broke. */
function ask(agent: Agent): Promise<number> {
  return new Promise((resolve) => {
    const url = `${service.url}/api/v1/health/live`;
    const sent = request(url, { agent }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', () => resolve(0)).end();
  });
}

/** A client with one connection, which sends requests until the connection breaks or it is stopped. */
function startClient() {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const statuses: number[] = [];
  const stopping = new AbortController();
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted && statuses.at(-1) !== 0) statuses.push(await ask(agent));
  };
  const running = run();
  return {
    statuses,
    async stop() {
      stopping.abort();
      await running;
      agent.destroy();
    },
  };
}

describe('two workers', { skip: lacksWorkers }, () => {
  before(async () => {
    external = await createExternalHome();
    service = await external.start({ LATCHKEY_METRICS_TOKEN: TOKEN }, ['--workers', '2']);
    await waitForBothWorkers(service);
    keys = await issueForLoad(external.home, external.settings);
  });
  after(() => external[Symbol.asyncDispose]());

  test('and their supervisor have no privileges', { skip: !isRoot && 'needs root' }, async () => {
    for (const pid of [service.pid, await waitForWorker(1), await waitForWorker(2)]) {
      const status = await readFile(`/proc/${pid}/status`, 'utf8');
      assert.doesNotMatch(status, /^(?:Uid|Gid|Groups):.*\b0\b/mu);
      assert.match(status, /^CapEff:\t0+$/mu);
    }
  });

  test('show the facts of their installation once, not summed', async () => {
    // The leader alone reads the first one, and each worker has the second one.
    await eventually(async () => (await readMetric('latchkey_database_size_bytes')) > 0);
    const activeFrom = await readMetric('latchkey_signing_key_active_from_timestamp_seconds');
    assert.ok(activeFrom > 0 && activeFrom <= Date.now() / 1_000, String(activeFrom));
    const until = await readMetric('latchkey_event_partitions_until_timestamp_seconds');
    assert.ok(until < Date.now() / 1_000 + 9 * 86_400, String(until));
  });

  test('replace one that is killed, while the other answers every request', async () => {
    const clients = Array.from({ length: CONNECTIONS }, startClient);
    await eventually(() => clients.every(({ statuses }) => statuses.length > 20));
    const counted = await readMetric(REQUESTS);
    assert.ok(counted > CONNECTIONS * 20);
    await service.waitForLine(/"worker\.leads","worker":1,/u);
    process.kill(await waitForWorker(1), 'SIGKILL');
    await service.waitForLine(/"worker\.leads","worker":2,/u);
    await service.waitForLine(/"worker\.ended","worker":1,.*"end":"SIGKILL"/u);
    await waitForWorker(3);
    await Promise.all(clients.map((client) => client.stop()));

    const broken = clients.filter(({ statuses }) => statuses.at(-1) === 0);
    assert.ok(broken.length > 0 && broken.length < CONNECTIONS, `${broken.length} broke`);
    for (const { statuses } of clients) {
      const failed = statuses.filter((status) => status !== 200);
      assert.deepEqual(failed, statuses.at(-1) === 0 ? [0] : []);
    }
    assert.ok((await readMetric(REQUESTS)) > counted, 'what the killed worker counted is kept');
    assert.equal(await readMetric('latchkey_workers{state="running"}'), 2);
    assert.equal(await readMetric('latchkey_worker_ends_total'), 1);
    assert.deepEqual(await readWorkersCheck(), { status: 'healthy' });
  });

  test('are replaced one by one on SIGUSR2 without a failed request', async () => {
    await using load = startRecordedLoad(async () => service.url, keys);
    await load.waitForAnswers(100);
    service.send('SIGUSR2');
    await service.waitForLine(/"workers\.rolling_restart_completed"/u);
    const requests = load.ledger.outcomes.length;
    // Not only successes: a license allows a limited number of machines within a period.
    await eventually(() => load.ledger.outcomes.length > requests + 100);
    const ledger = await load.stop();
    assert.deepEqual(failuresOf(ledger.outcomes), []);
    await verifyLedger(service.url, ledger);
    assert.ok((await waitForWorker(4)) !== (await waitForWorker(5)));
    assert.equal(await readMetric('latchkey_workers{state="running"}'), 2);
    assert.equal(await readMetric('latchkey_worker_ends_total'), 3);
  });

  test('end with their supervisor, after requests in progress', async () => {
    const pids = [await waitForWorker(4), await waitForWorker(5)];
    assert.deepEqual(await service.stop(), { code: 0, signal: null });
    assert.deepEqual(pids.filter(isRunning), []);
  });

  test('end at SIGTERM while the second one starts', async () => {
    const starting = await external.start({}, ['--workers', '2']);
    assert.deepEqual(await starting.stop(), { code: 0, signal: null });
    assert.deepEqual(
      starting.lines.filter((line) => line.includes('"worker.ended"')),
      [],
    );
  });

  test('without which SIGUSR2 is ignored', async () => {
    const alone = await external.start();
    alone.send('SIGUSR2');
    await alone.waitForLine(/"service\.signal_ignored","signal":"SIGUSR2"/u);
    assert.deepEqual(await alone.stop(), { code: 0, signal: null });
  });

  test('do not run when the first one cannot start', async () => {
    // As that of root, which the account of the workers may not enter: they look for certificates there.
    const home = join(external.home.directory, 'home of root');
    await mkdir(home, { mode: 0o700 });
    const settings = {
      ...external.settings,
      DATABASE_URL: 'postgres://latchkey@127.0.0.1:1/none',
      HOME: home,
    };
    const { code, output } = await external.home.runToEnd(settings, undefined, ['--workers', '2']);
    assert.equal(code, 78);
    assert.match(
      output,
      /^latchkey: The database of DATABASE_URL cannot be used \([^\n]*\): check the URL, and that the server runs\.$/u,
    );
  });

  test('are at most as many as the machine has cores', async () => {
    const { code, output } = await external.home.runToEnd({}, undefined, ['--workers', '9999']);
    assert.equal(code, 2);
    const expected =
      /^latchkey: option '--workers <n>' argument '9999' is invalid\. Expected auto or a whole number from 1 to \d+, since this machine has \d+ cores? and more workers would only share them\.\n/u;
    assert.match(output, expected);
  });
});

/** Whether a process exists that has not ended. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // ESRCH: it has ended.
    return false;
  }
}
