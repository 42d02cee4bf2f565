import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';

import { createExternalHome, type ExternalHome } from '../external-service.ts';
import { issueKeys, type ServiceProcess } from '../service-process.ts';
import { waitForBothWorkers } from './both-workers.ts';
import { lacksWorkers } from './lacks-workers.ts';

let external: ExternalHome;
let service: ServiceProcess;
let licenseKey = '';

interface PageAnswer {
  readonly status: number;
  readonly cookies: readonly string[];
  readonly location: string;
  readonly text: string;
}

/** Sends a form, or opens a page without fields, over a connection of its own: the next one goes to the other worker. */
function visit(path: string, cookie: string, fields?: Record<string, string>): Promise<PageAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(service.url + path, {
      method: fields === undefined ? 'GET' : 'POST',
      agent: new Agent({ keepAlive: false }),
      headers: { 'content-type': 'application/x-www-form-urlencoded', cookie },
    });
    sent.once('error', reject).once('response', (response) => {
      const { headers, statusCode: status = 0 } = response;
      const cookies = (headers['set-cookie'] ?? []).map((line) => line.split(';', 1)[0] ?? '');
      const location = headers.location ?? '';
      readText(response).then((text) => resolve({ status, cookies, location, text }), reject);
    });
    sent.end(fields === undefined ? '' : new URLSearchParams(fields).toString());
  });
}

async function statusesOf(times: number, send: () => Promise<PageAnswer>): Promise<number[]> {
  const statuses: number[] = [];
  for (let count = 0; count < times; count++) statuses.push((await send()).status);
  return statuses;
}

function askForAda(): Promise<PageAnswer> {
  return visit('/my/email', '', { email: 'ada@example.com' });
}

describe('the page for buyers of two workers', { skip: lacksWorkers }, () => {
  before(async () => {
    external = await createExternalHome();
    const settings = {
      LATCHKEY_SMTP_URL: 'smtp://127.0.0.1:1',
      LATCHKEY_MAIL_FROM: 'shop@example.com',
    };
    service = await external.start(settings, ['--workers', '2']);
    await waitForBothWorkers(service);
    const order = { count: 1, maxActivations: 2 };
    [licenseKey = ''] = await issueKeys(external.home, order, external.settings);
  });
  after(() => external[Symbol.asyncDispose]());

  test('a session of one is known to the other, and its end, too', async () => {
    const { cookies } = await visit('/my/key', '', { key: licenseKey });
    const cookie = cookies.find((each) => each.startsWith('latchkey-my=')) ?? '';
    const { location } = await visit('/my', cookie);
    assert.match(location, /^\/my\/licenses\//u);
    assert.deepEqual(await statusesOf(4, () => visit(location, cookie)), [200, 200, 200, 200]);
    assert.equal((await visit('/my/sign-out', cookie, {})).status, 303);
    assert.deepEqual(await statusesOf(4, () => visit(location, cookie)), [401, 401, 401, 401]);
  });

  test('codes for an address are counted together', async () => {
    assert.deepEqual(await statusesOf(7, askForAda), [303, 303, 303, 303, 303, 429, 429]);
  });

  test('a code of one is entered at the other, and its tries are counted together', async () => {
    const { cookies } = await visit('/my/email', '', { email: 'grace@example.com' });
    const [cookie = ''] = cookies;
    const left: string[] = [];
    for (let count = 0; count < 5; count++) {
      const { text } = await visit('/my/code', cookie, { code: '000000' });
      left.push(/you can try (?<left>[^.]+)\./u.exec(text)?.groups?.['left'] ?? 'over');
    }
    assert.deepEqual(left, ['4 more times', '3 more times', '2 more times', 'once more', 'over']);
  });
});
