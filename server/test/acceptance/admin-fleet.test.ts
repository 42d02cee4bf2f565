/** The list of servers watched by agents, and the document of the page that connects to them. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';

import { startTestService } from '../harness.ts';
import { openBrowser } from '../operator-steps.ts';
import { problem, readBody, readItems, validationErrorsOf } from './bodies.ts';

const SERVERS = '/api/v1/admin/fleet-servers';

const service = await startTestService();
const { clock, pool } = service;
const admin = await openBrowser(service);

beforeEach(() => pool.query('delete from fleet_servers'));

async function lastEntry() {
  const { rows } = await pool.query(
    `select actor, action, subject_id, reason, details from audit_log order by sequence desc limit 1`,
  );
  return rows[0];
}

/** Adds a server, and returns it. */
async function add(body: object) {
  const answer = await admin.post(SERVERS, { labels: [], ...body });
  assert.equal(answer.status, 200, answer.text);
  return readBody(answer.body);
}

async function listed() {
  return readItems((await admin.get(SERVERS)).body);
}

const listAddresses = async () => (await listed()).map(({ address }) => address);

/** Reads a page with the policy and the size of its header. */
async function readPage(path: string, cookie = '') {
  const response = await fetch(service.url + path, { headers: { cookie } });
  const policy = response.headers.get('content-security-policy') ?? '';
  let headerBytes = 0;
  for (const [name, value] of response.headers) headerBytes += name.length + value.length + 4;
  return { status: response.status, policy, headerBytes, text: await response.text() };
}

const POLICY_ELEMENT = /^ {4}<meta http-equiv="content-security-policy" content="(.*)">\n/m;

describe('200', () => {
  test('adds a server with its normalised address, and lists it by name', async () => {
    const body = { name: 'web 1', address: ' WEB-1.Example.com:4096', labels: ['web', 'web'] };
    const server = await add({ ...body, reason: 'new' });
    const id = String(server['id']);
    assert.deepEqual(server, {
      id,
      name: 'web 1',
      address: 'web-1.example.com',
      labels: ['web'],
      created_at: clock.now().toISOString(),
      version: 1,
    });
    assert.deepEqual(await lastEntry(), {
      actor: `operator:${admin.email}`,
      action: 'fleet_server.add',
      subject_id: id,
      reason: 'new',
      details: { name: 'web 1', address: 'web-1.example.com', labels: 'web' },
    });
    await add({ name: 'NAS', address: '10.0.0.7:4100' });
    const answer = await admin.get(SERVERS);
    assert.deepEqual(
      readItems(answer.body).map(({ name, address }) => [name, address]),
      [
        ['NAS', '10.0.0.7:4100'],
        ['web 1', 'web-1.example.com'],
      ],
    );
  });

  test('shows the list to viewers, who cannot change it', async () => {
    const { id } = await add({ name: 'web', address: 'web' });
    const viewer = await openBrowser(service, 'viewer');
    assert.equal(readItems((await viewer.get(SERVERS)).body).length, 1);
    const support = await openBrowser(service, 'support');
    for (const [path, body] of [
      ['', { name: 'a', address: 'a', labels: [] }],
      ['/import', { servers: [{ name: 'a', address: 'a', labels: [] }] }],
      [`/${String(id)}/update`, { name: 'a', address: 'a', labels: [], expected_version: 1 }],
      [`/${String(id)}/remove`, { expected_version: 1 }],
    ] as const) {
      const answer = await support.post(SERVERS + path, body);
      assert.deepEqual([answer.status, readBody(answer.body)['code']], [403, 'forbidden'], path);
    }
    assert.deepEqual(await listAddresses(), ['web']);
  });

  test('changes a server, and counts its version', async () => {
    const { id } = await add({ name: 'web', address: 'web', labels: ['a'] });
    const change = { name: 'Web', address: 'web:4100', labels: ['b', 'c'], expected_version: 1 };
    const answer = await admin.post(`${SERVERS}/${String(id)}/update`, change);
    const { expected_version: _seen, ...shown } = change;
    const created = { created_at: clock.now().toISOString() };
    assert.deepEqual(answer.body, { id, ...shown, ...created, version: 2 });
    assert.deepEqual(await listed(), [answer.body]);
    const { action, details } = await lastEntry();
    assert.deepEqual(
      [action, details],
      ['fleet_server.edit', { name: 'Web', address: 'web:4100', labels: 'b, c' }],
    );
  });

  test('removes a server', async () => {
    const { id } = await add({ name: 'web', address: 'web' });
    const answer = await admin.post(`${SERVERS}/${String(id)}/remove`, { expected_version: 1 });
    assert.deepEqual([answer.status, answer.body], [200, { done: true }]);
    assert.deepEqual(await listed(), []);
    assert.equal((await lastEntry()).action, 'fleet_server.remove');
  });

  test('imports several servers; a listed address gets the name and the labels', async () => {
    await add({ name: 'a', address: 'a.example', labels: ['x'] });
    await add({ name: 'b', address: 'b.example', labels: ['x'] });
    const servers = [
      { name: 'a', address: 'A.example:4096', labels: ['x'] },
      { name: 'B', address: 'b.example', labels: ['x', 'y'] },
      { name: 'c', address: 'c.example', labels: [] },
    ];
    const answer = await admin.post(`${SERVERS}/import`, { servers });
    assert.deepEqual([answer.status, answer.body], [200, { added: 1, changed: 1, unchanged: 1 }]);
    assert.deepEqual(
      (await listed()).map(({ name, labels, version }) => [name, labels, version]),
      [
        ['a', ['x'], 1],
        ['B', ['x', 'y'], 2],
        ['c', [], 1],
      ],
    );
    const { action, subject_id: subject, details } = await lastEntry();
    assert.deepEqual(
      [action, subject, details],
      ['fleet_server.import', 'fleet_servers', { added: 1, changed: 1, unchanged: 1 }],
    );
  });

  test('exports the list as CSV, with an audit entry', async () => {
    const { id } = await add({ name: '=web', address: 'web:4100', labels: ['a', 'b'] });
    const { text } = await admin.get(`${SERVERS}/export`);
    const time = clock.now().toISOString();
    assert.equal(
      text,
      `id,name,address,labels,created_at\r\n${String(id)},'=web,web:4100,"a,b",${time}\r\n`,
    );
    assert.equal((await lastEntry()).action, 'fleet_server.export');
  });
});

describe('404', () => {
  test('a server that was removed', async () => {
    const path = `${SERVERS}/0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d`;
    const detail = 'There is no such server, or it was removed.';
    const update = { name: 'a', address: 'a', labels: [], expected_version: 1 };
    for (const [verb, body] of [
      ['update', update],
      ['remove', { expected_version: 1 }],
    ] as const) {
      const answer = await admin.post(`${path}/${verb}`, body);
      assert.deepEqual([answer.status, answer.body], [404, problem('not_found', { detail })]);
    }
  });
});

describe('409', () => {
  test('a change that is based on an older version, with the current state', async () => {
    const server = await add({ name: 'web', address: 'web' });
    const path = `${SERVERS}/${String(server['id'])}`;
    for (const [verb, body] of [
      ['update', { name: 'a', address: 'a', labels: [], expected_version: 2 }],
      ['remove', { expected_version: 2 }],
    ] as const) {
      const answer = await admin.post(`${path}/${verb}`, body);
      assert.deepEqual(
        [answer.status, answer.body],
        [409, problem('conflict', { current: server })],
      );
    }
    assert.deepEqual(await listed(), [server]);
  });

  test('an address that is listed', async () => {
    await add({ name: 'web', address: 'web' });
    const { id } = await add({ name: 'nas', address: 'nas' });
    const entry = { name: 'other', address: 'WEB:4096', labels: [] };
    const detail = 'The address web is listed already, as web.';
    for (const [path, body] of [
      [SERVERS, entry],
      [`${SERVERS}/${String(id)}/update`, { ...entry, expected_version: 1 }],
    ] as const) {
      const answer = await admin.post(path, body);
      assert.deepEqual([answer.status, answer.body], [409, problem('not_possible', { detail })]);
    }
    assert.deepEqual(await listAddresses(), ['nas', 'web']);
  });

  test('more than 500 servers', async () => {
    const servers = Array.from({ length: 500 }, (_, index) => ({
      name: `${'long name '.repeat(9)}${index}`,
      address: `server-${index}.example.com`,
      labels: ['a'],
    }));
    const imported = await admin.post(`${SERVERS}/import`, { servers });
    assert.deepEqual(imported.body, { added: 500, changed: 0, unchanged: 0 });
    const detail = 'The list has at most 500 servers.';
    const one = { name: 'a', address: 'a', labels: [] };
    for (const [path, body] of [
      [SERVERS, one],
      [`${SERVERS}/import`, { servers: [servers[0], one] }],
    ] as const) {
      const answer = await admin.post(path, body);
      assert.deepEqual([answer.status, answer.body], [409, problem('not_possible', { detail })]);
    }
    assert.equal((await listed()).length, 500);
  });
});

describe('422', () => {
  test('an invalid field', async () => {
    const entry = { name: 'web', address: 'web', labels: [] };
    for (const [change, place] of [
      [{ name: ' ' }, 'body.name'],
      [{ address: 'https://web' }, 'body.address'],
      [{ address: '[::1]' }, 'body.address'],
      [{ labels: ['a,b'] }, 'body.labels'],
    ] as const) {
      const answer = await admin.post(SERVERS, { ...entry, ...change });
      assert.equal(answer.status, 422);
      assert.deepEqual(validationErrorsOf(answer.body), [[place, 'value_error']]);
    }
    for (const change of [
      { name: 'x'.repeat(101) },
      { address: 'x'.repeat(261) },
      { labels: Array.from({ length: 11 }, (_, index) => `${index}`) },
      { labels: ['x'.repeat(41)] },
      { labels: undefined },
    ]) {
      assert.equal((await admin.post(SERVERS, { ...entry, ...change })).status, 422);
    }
    assert.deepEqual(await listed(), []);
  });

  test('an import with an invalid or a repeated entry changes nothing', async () => {
    const good = { name: 'a', address: 'a', labels: [] };
    for (const [bad, field] of [
      [{ name: 'b', address: 'b?c', labels: [] }, 'address'],
      [{ name: '\n', address: 'b', labels: [] }, 'name'],
      [{ name: 'b', address: 'A:4096', labels: [] }, 'address'],
    ] as const) {
      const answer = await admin.post(`${SERVERS}/import`, { servers: [good, bad] });
      assert.equal(answer.status, 422);
      const errors = [[`body.servers.1.${field}`, 'value_error']];
      assert.deepEqual(validationErrorsOf(answer.body), errors);
    }
    assert.equal((await admin.post(`${SERVERS}/import`, { servers: [] })).status, 422);
    assert.deepEqual(await listed(), []);
  });
});

describe('the document of the fleet page', () => {
  test('names the hosts of all servers, and no others', async () => {
    await add({ name: 'nas', address: '10.0.0.7:443' });
    await add({ name: 'web', address: 'web-1.example.com' });
    await add({ name: 'db', address: '10.0.0.7/latchkey' });
    for (const role of ['viewer', 'admin'] as const) {
      const { cookie } = await openBrowser(service, role);
      const { policy, text } = await readPage('/console/fleet', cookie);
      assert.match(policy, /; connect-src 'self' https: wss:; /);
      assert.equal(
        POLICY_ELEMENT.exec(text)?.[1],
        "connect-src 'self' wss://10.0.0.7:443 https://10.0.0.7:443 wss://web-1.example.com:4096 https://web-1.example.com:4096",
      );
      const other = await readPage('/console', cookie);
      assert.equal(text.replace(POLICY_ELEMENT, ''), other.text);
    }
  });

  test('is that of every page without servers, without a session, and on other pages', async () => {
    const plain = await readPage('/console', admin.cookie);
    assert.match(plain.policy, /; connect-src 'self'; /);
    assert.deepEqual(await readPage('/console/fleet', admin.cookie), plain);
    await add({ name: 'web', address: 'web-1.example.com' });
    const ended = `__Host-latchkey=${'x'.repeat(43)}`;
    for (const [path, cookie] of [
      ['/console/fleet', ''],
      ['/console/fleet', ended],
      ['/console/fleet/servers', admin.cookie],
      ['/console/licenses', admin.cookie],
      ['/console/welcome', admin.cookie],
    ] as const) {
      assert.deepEqual(await readPage(path, cookie), plain, path);
    }
  });

  test('needs no larger headers for 500 servers, so that proxies pass it on', async () => {
    const servers = Array.from({ length: 500 }, (_, index) => ({
      name: `${index}`,
      address: `server-${index}.${'a-long-department.'.repeat(9)}example.com:4100`,
      labels: [],
    }));
    assert.equal((await admin.post(`${SERVERS}/import`, { servers })).status, 200);
    const { status, headerBytes, text } = await readPage('/console/fleet', admin.cookie);
    assert.equal(status, 200);
    assert.equal(text.match(/ wss:/g)?.length, 500);
    assert.ok(headerBytes < 2_000, `${headerBytes} bytes`);
  });
});
