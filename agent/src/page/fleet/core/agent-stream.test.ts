/** The core against the agent's own server. */
import assert from 'node:assert/strict';
import { request } from 'node:https';
import { after, describe, test } from 'node:test';

import { WebSocket } from 'ws';

import { CertificateFixture, lacksOpenssl } from '../../../../test/certificates.ts';
import { exampleSnapshot } from '../../../../test/example-snapshot.ts';
import { openStream, type Stream, type StreamOptions } from '../../../../test/stream-harness.ts';
import { waitFor } from '../../../../test/wait.ts';
import { openAccessTokens } from '../../../stream/admission.ts';
import { readTlsMaterial } from '../../../tls/tls-files.ts';
import { createFleet } from './create-fleet.ts';
import type { Fleet, FleetOptions, GapReason, Machine } from './types.ts';

const ORIGIN = 'https://console.example.com';
const TOKEN = 'a-token-of-many-letters';

/** A WebSocket of a browser that trusts every certificate. */
class TrustingSocket extends WebSocket {
  constructor(url: string, protocols: string[]) {
    super(url, protocols, { rejectUnauthorized: false, origin: ORIGIN });
  }
}

/** The `fetch` of that browser: answers without CORS are not readable. */
const fetchAsPage: FleetOptions['fetch'] = async (url, { mode, headers, signal }) =>
  new Promise((resolve, reject) => {
    const options = { headers: { ...headers, origin: ORIGIN }, rejectUnauthorized: false, signal };
    const sent = request(url, { ...options, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.once('end', () => {
        const isShared = response.headers['access-control-allow-origin'] === ORIGIN;
        if (mode === 'no-cors') resolve({ status: 0, text: async () => '' });
        else if (isShared) resolve({ status: response.statusCode ?? 0, text: async () => text });
        else reject(new TypeError('Failed to fetch'));
      });
    });
    sent.once('error', reject).end();
  });

/** A fleet of one machine, closed at the end. */
class OpenFleet implements Disposable {
  readonly fleet: Fleet;
  readonly machine: Machine;

  constructor(port: number, token: string | null = null) {
    this.fleet = createFleet({
      list: [{ id: 'm', name: 'm', address: `127.0.0.1:${port}`, labels: [] }],
      readToken: () => token,
      WebSocket: TrustingSocket,
      fetch: fetchAsPage,
      now: Date.now,
      schedule: (run, delayMs) => {
        const timer = setTimeout(run, delayMs);
        return () => clearTimeout(timer);
      },
      random: Math.random,
    });
    this.machine = this.fleet.machines[0] ?? assert.fail();
  }

  async isLive(): Promise<void> {
    await waitFor(() => this.machine.state.kind === 'live');
  }

  /** Waits for a gap, and returns the agent's sentence. */
  async hasGap(reason: GapReason): Promise<string | undefined> {
    return waitFor(() => {
      const { state } = this.machine;
      return state.kind === 'gap' && state.reason === reason && { detail: state.detail };
    }).then(({ detail }) => detail);
  }

  get events(): string[] {
    return this.fleet.events.map(({ what: { kind } }) => kind);
  }

  [Symbol.dispose](): void {
    this.fleet.close();
  }
}

/** Lets the agent record the last seconds. */
function record(stream: Stream, seconds: number): void {
  const startMs = Date.now() - seconds * 1000;
  let ticks = 0;
  stream.sampler.sample = () => {
    ticks += 1;
    const load = { load_1m: ticks, load_5m: 1, load_15m: 1, runnable_tasks: 1, tasks: 1 };
    const time = new Date(startMs + ticks * 1000).toISOString();
    return { ...exampleSnapshot, load, time };
  };
  for (let second = 0; second < seconds; second += 1) stream.hub.tick();
}

describe('the stream of an agent', { skip: lacksOpenssl }, () => {
  const fixture = new CertificateFixture();
  after(() => fixture[Symbol.dispose]());
  const tls = readTlsMaterial({ ...fixture.createRoot('root').issueServer(), clients: null });
  const allowed = { isToken: null, allowedOrigins: new Set([ORIGIN]) };
  const open = async (rest: Partial<StreamOptions> = {}, port = 0): Promise<Stream> =>
    openStream({ tls, readRules: () => allowed, ...rest }, port);

  test('brings facts and history at once, then points and notices', async () => {
    await using stream = await open();
    record(stream, 20);
    using page = new OpenFleet(stream.port);
    await page.isLive();
    const { machine } = page;
    assert.deepEqual([machine.host?.hostname, machine.notices], ['db-1', null]);
    assert.equal(machine.machineId, '0123456789abcdef0123456789abcdef');
    assert.equal(machine.latest.load_1m, 20);
    stream.hub.tick();
    await waitFor(() => machine.latest.load_1m === 21);
    assert.deepEqual(
      machine.notices?.map(({ code }) => code),
      ['filesystem_stale'],
    );
    // The second of the newest point is drawn when it is over.
    const newest = await waitFor(() => {
      const loads = Array.from(machine.history.columns.load_1m).filter(
        (each) => !Number.isNaN(each),
      );
      return loads.at(-1) === 21 && loads;
    });
    assert.deepEqual(
      newest,
      Array.from({ length: 21 }, (_, at) => at + 1),
    );
  });

  test('refuses without a token, and after the token was taken away', async () => {
    let tokens = [TOKEN];
    const readRules = () => ({ ...allowed, isToken: openAccessTokens(tokens) });
    await using stream = await open({ readRules });
    using page = new OpenFleet(stream.port);
    const needed = 'An access token is needed: send it as "Authorization: Bearer TOKEN".';
    assert.equal(await page.hasGap('token'), needed);
    page.fleet.setToken('m', TOKEN);
    await page.isLive();
    tokens = ['another-token-of-us'];
    const removedAt = Date.now();
    stream.server.setTls(tls);
    assert.equal(await page.hasGap('token'), 'The access token is not known.');
    assert.ok(Date.now() - removedAt < 3000);
    page.fleet.setToken('m', 'another-token-of-us');
    await page.isLive();
    assert.deepEqual(page.events, ['back', 'gap', 'back']);
  });

  test('refuses without a client certificate', async () => {
    const authorityFile = fixture.createRoot('clients').own.certificateFile;
    const clients = { authorityFile, revocationFile: null };
    const mutual = readTlsMaterial({ ...fixture.createRoot('other').issueServer(), clients });
    await using stream = await open({ tls: mutual });
    using page = new OpenFleet(stream.port);
    assert.match((await page.hasGap('certificate_required')) ?? '', /certificate/u);
  });

  test('does not answer pages of other origins readably', async () => {
    const others = { ...allowed, allowedOrigins: new Set<string>() };
    await using stream = await open({ readRules: () => others });
    using page = new OpenFleet(stream.port);
    assert.equal(await page.hasGap('origin'), undefined);
  });

  test('announces that it stops; after a reboot it is back, and the page reports both', async () => {
    const stream = await open();
    record(stream, 3);
    using page = new OpenFleet(stream.port);
    await page.isLive();
    await stream[Symbol.asyncDispose]();
    assert.equal(await page.hasGap('stopped'), 'The agent stops.');
    const startedMs = stream.clock.ms + 60_000;
    const host = { boot_time: new Date(startedMs - 9000).toISOString() };
    await using restarted = await open({ startedMs, host }, stream.port);
    record(restarted, 1);
    page.fleet.retry('m');
    await page.isLive();
    assert.notEqual(page.machine.rebootedAt, null);
    assert.deepEqual(page.events, ['gap', 'rebooted', 'back']);
  });
});
