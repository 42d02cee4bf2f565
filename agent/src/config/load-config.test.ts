import assert from 'node:assert/strict';
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { parse } from 'yaml';

import { ConfigError, readTokens } from './config.ts';
import { loadConfig, parseConfig } from './load-config.ts';

const SMALLEST = 'tls:\n  certificate_file: /c.pem\n  key_file: /k.pem\n';

const DEFAULTS = {
  listen: { host: '0.0.0.0', port: 4096 },
  intervalSeconds: 1,
  tls: { certificateFile: '/c.pem', keyFile: '/k.pem', clients: null },
  serverName: null,
  refusesInHandshake: false,
  tokensFile: null,
  allowedOrigins: new Set(),
  controlSocket: '/run/latchkey-agent/control.sock',
  maxConnections: 2000,
  maxConnectionsPerAddress: 64,
};

async function findProblems(text: string): Promise<readonly string[]> {
  return parseConfig(text, 'agent.yaml').then(
    () => [],
    (error: unknown) => (error instanceof ConfigError ? error.problems : [String(error)]),
  );
}

const example = readFileSync(new URL('../../agent.example.yaml', import.meta.url), 'utf8');

test('needs only certificate and key', async () => {
  assert.deepEqual(await parseConfig(SMALLEST, 'agent.yaml'), DEFAULTS);
});

test('the example file names every setting with its default', async () => {
  const tls = {
    certificateFile: '/etc/latchkey-agent/tls/fullchain.pem',
    keyFile: '/etc/latchkey-agent/tls/privkey.pem',
    clients: null,
  };
  assert.deepEqual(await parseConfig(example, 'example'), { ...DEFAULTS, tls });
  const values = parse(example);
  for (const name of ['', 'tls', 'viewers', 'limits']) {
    const wrong = name === '' ? 'x: 1\n' : `${name}:\n  x: 1\n`;
    const [known] = (await findProblems(wrong)).flatMap(
      (each) => each.split('known are ')[1] ?? [],
    );
    const fields = name === '' ? values : values[name];
    assert.deepEqual(known?.split(', '), Object.keys(fields));
  }
});

test('reads every setting', async () => {
  const text = `listen: "[::]:9000"
interval_seconds: 5
tls: { certificate_file: /c.pem, key_file: /k.pem, server_name: db-1.example.com }
viewers:
  certificates: required
  authority_file: /ca.pem
  revocation_file: /crl.pem
  refuse_in_handshake: true
  tokens_file: /tokens
  allowed_origins: [https://Console.example.com:443, http://other.example.com:8080, "*"]
control_socket: null
limits: { connections: 10, connections_per_address: 2 }
`;
  assert.deepEqual(await parseConfig(text, 'agent.yaml'), {
    listen: { host: '::', port: 9000 },
    intervalSeconds: 5,
    tls: {
      certificateFile: '/c.pem',
      keyFile: '/k.pem',
      clients: { authorityFile: '/ca.pem', revocationFile: '/crl.pem' },
    },
    serverName: 'db-1.example.com',
    refusesInHandshake: true,
    tokensFile: '/tokens',
    allowedOrigins: new Set(['https://console.example.com', 'http://other.example.com:8080', '*']),
    controlSocket: null,
    maxConnections: 10,
    maxConnectionsPerAddress: 2,
  });
});

test('reports all problems at once, with line and field', async () => {
  const text = `listen: localhost:4096
interval_seconds: 0.5
tls:
  certificate_file: c.pem
  key_fil: /k.pem
viewers:
  certificates: required
  refuse_in_handshake: maybe
  allowed_origins:
    - https://console.example.com
    - console.example.com
    - https://*.example.com
limits: [1]
`;
  assert.deepEqual(await findProblems(text), [
    'agent.yaml:1: listen must be an address and a port, such as 0.0.0.0:4096 or "[::]:4096"',
    'agent.yaml:2: interval_seconds must be a whole number from 1 to 60',
    'agent.yaml:3: tls.key_file is missing: the absolute path of a file',
    'agent.yaml:4: tls.certificate_file must be the absolute path of a file',
    'agent.yaml:5: tls.key_fil is not a field here; known are certificate_file, key_file, server_name',
    'agent.yaml:6: viewers.authority_file is missing: required certificates need an authority',
    'agent.yaml:8: viewers.refuse_in_handshake must be true or false',
    'agent.yaml:11: viewers.allowed_origins.1 must be an origin such as https://console.example.com, or "*"',
    'agent.yaml:12: viewers.allowed_origins.2 must be an origin such as https://console.example.com, or "*"',
    'agent.yaml:13: limits must be a mapping with the fields connections, connections_per_address',
  ]);
});

test('rejects settings of client certificates while certificates are off', async () => {
  const text = `${SMALLEST}viewers:
  authority_file: /ca.pem
  revocation_file: /crl.pem
  refuse_in_handshake: true
`;
  const idle = 'has no effect while certificates is off: set it to required, or remove this field';
  assert.deepEqual(await findProblems(text), [
    `agent.yaml:5: viewers.authority_file ${idle}`,
    `agent.yaml:6: viewers.revocation_file ${idle}`,
    `agent.yaml:7: viewers.refuse_in_handshake ${idle}`,
  ]);
});

test('rejects invalid addresses and ports', async () => {
  for (const listen of ['0.0.0.0:0', '0.0.0.0:65536', '1.2.3:80', '4096', '"[::g]:4096"']) {
    const [problem, ...others] = await findProblems(`listen: ${listen}\n${SMALLEST}`);
    assert.match(problem ?? '', /^agent\.yaml:1: listen must be an address and a port/u, listen);
    assert.deepEqual(others, []);
  }
});

test('rejects invalid YAML and aliases, with the line', async () => {
  assert.match((await findProblems('listen: "a\n'))[0] ?? '', /^agent\.yaml:\d: is not YAML: /u);
  assert.match(
    (await findProblems('a: 1\na: 2\n'))[0] ?? '',
    /^agent\.yaml:2: is not YAML: Map keys must be unique/u,
  );
  const star = 'a text that begins with * needs quotes around it (aliases are not supported)';
  assert.deepEqual(await findProblems('a: &x [1]\nb: *x\n'), [`agent.yaml:2: ${star}`]);
  assert.deepEqual(await findProblems('a:\n  b: [*]\n'), [`agent.yaml:2: ${star}`]);
  assert.deepEqual(await findProblems('a: 1\n---\nb: 1\n'), [
    'agent.yaml:2: a second document (---) is not supported',
  ]);
  assert.match(
    (await findProblems('a: 1\nlisten: [::]:4096\n'))[0] ?? '',
    /^agent\.yaml:2: is not YAML: .+; a text that begins with \[ .+ needs quotes around it$/u,
  );
  assert.equal((await findProblems(`${SMALLEST}- x\n`)).length, 1);
});

test('reports one mistake in one sentence', async () => {
  const no = 'must be true or false';
  for (const [text, problem] of [
    [`${SMALLEST}viewers:\n  refuse_in_handshake: yes\n`, `:5: viewers.refuse_in_handshake ${no}`],
    [
      `${SMALLEST}viewers:\n  authority_file: ca.pem\n`,
      ':5: viewers.authority_file must be the absolute path of a file',
    ],
    [
      `${SMALLEST}viewers:\n  certificates: on\n  authority_file: /ca.pem\n`,
      ':5: viewers.certificates must be off or required',
    ],
    [
      'tls: /c.pem\n',
      ':1: tls must be a mapping with the fields certificate_file, key_file, server_name',
    ],
  ] as const) {
    assert.deepEqual(await findProblems(text), [`agent.yaml${problem}`]);
  }
});

test('explains a missing or unreadable configuration', async (t) => {
  await assert.rejects(loadConfig('/nowhere/agent.yaml'), {
    message:
      'The configuration /nowhere/agent.yaml does not exist: choose another one with --config, or write one from agent.example.yaml.',
  });
  await assert.rejects(loadConfig('/'), {
    message: /^The configuration \/ cannot be read: EISDIR/u,
  });
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-config-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'agent.yaml');
  writeFileSync(path, SMALLEST, { mode: 0 });
  await asNobody(() =>
    assert.rejects(loadConfig(path), {
      message: `This account may not read the configuration ${path}: use sudo, or choose another one with --config.`,
    }),
  );
});

/** Root may read everything. */
async function asNobody(act: () => Promise<void>): Promise<void> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.('nobody');
  try {
    await act();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

test('reads one token per line, and reports the line of an invalid one without its text', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-tokens-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'tokens');
  writeFileSync(path, '# console\nabcdefghij0123456789\n\n  zyxwvutsrq-9876543210\n');
  assert.deepEqual(readTokens(path), ['abcdefghij0123456789', 'zyxwvutsrq-9876543210']);
  assert.deepEqual(readTokens(null), []);
  writeFileSync(path, 'abcdefghij0123456789\nshort\n');
  assert.throws(() => readTokens(path), {
    message: `${path}:2: a token has 20 to 200 letters, digits and - . _ ~`,
  });
  writeFileSync(path, '# none\n');
  assert.throws(() => readTokens(path), /contains no token/u);
});
