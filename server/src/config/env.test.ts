import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { forEachProvider } from '@latchkey/contract';

import { listVariableNames, readEnvironment } from './env.ts';
import type { Variables } from './env.ts';

const MASTER_SECRET = 'abcdefghijklmnopqrstuvwxyz0123456789';

const STANDARD_SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

const noFiles = (): never => assert.fail('no file is to be read');

function read(variables: Variables) {
  return readEnvironment(variables, noFiles);
}

/** Returns the only problem of these variables. */
function problemOf(variables: Variables): string {
  const { problems } = read(variables);
  assert.equal(problems.length, 1, problems.join('\n'));
  return problems[0] ?? '';
}

test('.env.example and the service know the same variables', () => {
  const path = new URL('../../../.env.example', import.meta.url);
  const documented = [...readFileSync(path, 'utf8').matchAll(/^#?([A-Z][A-Z\d_]*)=/gmu)].map(
    ([, name]) => name,
  );
  assert.deepEqual(new Set(documented), new Set(listVariableNames()));
  assert.equal(new Set(documented).size, documented.length);
});

test('accepts an empty environment, and treats blank variables as absent', () => {
  for (const variables of [
    {},
    { LATCHKEY_PORT: '', DATABASE_URL: '  ', LATCHKEY_SECRET_FILE: '' },
  ]) {
    const { environment, problems, warnings } = read(variables);
    const { webhookSecrets, ...settings } = environment;
    assert.deepEqual([problems, warnings], [[], []]);
    assert.ok(
      [...Object.values(settings), ...Object.values(webhookSecrets)].every(
        (value) => value === undefined,
      ),
    );
  }
});

test('values are typed', () => {
  const { environment, problems } = read({
    LATCHKEY_HOST: '::1',
    LATCHKEY_PORT: ' 0 ',
    LATCHKEY_PUBLIC_URL: 'https://licenses.example.com/base/',
    LATCHKEY_TRUSTED_PROXIES: '10.0.0.0/8, fd00::/8,192.0.2.7',
    LATCHKEY_EVENTS_RATE: '5/5',
    LATCHKEY_SUBSCRIBE_RATE: '60/100',
    LATCHKEY_BILLING_SECRETS: 'the new secret of 24 chr, the old one of 24 letters',
    LATCHKEY_MAIL_FROM: 'Example <a@example.com>',
    DATABASE_URL: 'postgresql:///latchkey?host=/run/postgresql',
  });
  assert.deepEqual(problems, []);
  assert.deepEqual(
    Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined)),
    {
      host: '::1',
      port: 0,
      publicUrl: 'https://licenses.example.com/base',
      trustedProxies: ['10.0.0.0/8', 'fd00::/8', '192.0.2.7'],
      eventsRate: { perSecond: 5, burst: 5 },
      subscribeRate: { perMinute: 60, burst: 100 },
      webhookSecrets: {
        ...forEachProvider(() => undefined),
        paddle: ['the new secret of 24 chr', 'the old one of 24 letters'],
      },
      mailFrom: 'Example <a@example.com>',
      databaseUrl: 'postgresql:///latchkey?host=/run/postgresql',
    },
  );
});

test("Standard Webhooks' secrets may have their prefix or none, be padded or not, and be public keys", () => {
  const secrets = [
    STANDARD_SECRET,
    STANDARD_SECRET.replace('whsec_', ''),
    `whsec_${Buffer.alloc(25, 7).toString('base64').replace(/=+$/u, '')}`,
    `whsec_${Buffer.alloc(25, 7).toString('base64')}`,
    `whpk_${Buffer.alloc(32, 7).toString('base64')}`,
  ];
  const { environment, problems } = read({
    LATCHKEY_STANDARD_WEBHOOKS_SECRETS: secrets.join(', '),
  });
  assert.deepEqual([environment.webhookSecrets.standard, problems], [secrets, []]);
});

test('a problem names the variable, the value and the rule', () => {
  assert.equal(
    problemOf({ LATCHKEY_PORT: '80a' }),
    'LATCHKEY_PORT must be a whole number from 0 to 65535, not "80a".',
  );
  assert.match(problemOf({ LATCHKEY_PORT: 'tcp://10.0.0.1:8080' }), /enableServiceLinks: false/u);
});

for (const [name, wrong] of Object.entries({
  LATCHKEY_PORT: ['-1', '65536', '1e3', '0x50', '8080.0'],
  PORT: ['http'],
  LATCHKEY_HOST: ['http://localhost', '[::1]', 'localhost:80', 'a b'],
  LATCHKEY_PUBLIC_URL: [
    'licenses.example.com',
    'ftp://a',
    'https://u:p@a',
    'https://a?b',
    'https://a#b',
  ],
  LATCHKEY_TRUSTED_PROXIES: [
    'true',
    '1',
    '*',
    '0.0.0.0/0',
    '::/0',
    '10.0.0.0/33',
    '10.0.0.0/8/8',
    'loopback',
    '10.0.0.1,',
  ],
  LATCHKEY_LOG_LEVEL: ['INFO', 'verbose'],
  LATCHKEY_DATABASE_POOL_SIZE: ['1', '501'],
  DATABASE_URL: [
    'mysql://a/b',
    'localhost/latchkey',
    'postgres://a:b:c/d',
    'postgres://a,b/d?target_session_attrs=standby',
  ],
  LATCHKEY_REPLICA_URL: ['mysql://a/b', 'postgres://a,b/d?target_session_attrs=replica'],
  LATCHKEY_REPLICA_MAX_LAG_S: ['0', '86401'],
  REDIS_URL: ['http://a'],
  LATCHKEY_SECRET: ['short', 'x'.repeat(64), `${MASTER_SECRET},${MASTER_SECRET}`],
  LATCHKEY_METRICS_TOKEN: ['nineteen characters'],
  LATCHKEY_EVENTS_RATE: ['100', '100/50', '0/10', 'a/b'],
  LATCHKEY_SUBSCRIBE_RATE: ['5', '5/4', '0/5', '5/5/5'],
  LATCHKEY_PREVIOUS_SECRETS: [
    'short',
    `${MASTER_SECRET},`,
    `${MASTER_SECRET},short`,
    Array.from({ length: 4 }, () => MASTER_SECRET).join(','),
  ],
  LATCHKEY_BILLING_SECRETS: ['x', 'fifteen letters', `${MASTER_SECRET},,${MASTER_SECRET}`, ','],
  LATCHKEY_STRIPE_SECRETS: ['x', 'whsec_123456789'],
  LATCHKEY_LEMON_SQUEEZY_SECRETS: ['x', `${MASTER_SECRET},x`],
  LATCHKEY_STANDARD_WEBHOOKS_SECRETS: [
    'whsec_my-own-password-of-many-words-and-hyphens',
    `whsec_${Buffer.alloc(23, 7).toString('base64')}`,
    `whsec_${Buffer.alloc(24, 7).toString('base64')}A`,
    `whpk_${Buffer.alloc(31, 7).toString('base64')}`,
    'whsec_',
    '',
  ].map((secret) => `${STANDARD_SECRET},${secret}`),
  LATCHKEY_WEBHOOK_ALLOWED_NETWORKS: [
    'localhost',
    '10.0.0.0/33',
    '10.0.0.0/0',
    '10.0.0.1;10.0.0.2',
  ],
  LATCHKEY_BILLING_TOLERANCE_S: ['0', '3601'],
  LATCHKEY_SMTP_URL: ['mail.example.com:25', 'http://a'],
  LATCHKEY_MAIL_FROM: ['Example', 'a@b\nBcc: c@d'],
  LATCHKEY_DKIM_PRIVATE_KEY: ['-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----'],
  LATCHKEY_OUTREACH_API_KEY: ['nineteen characters'],
})) {
  test(`${name} rejects invalid values`, () => {
    for (const value of wrong)
      assert.match(problemOf({ [name]: value }), new RegExp(`^${name} must `, 'u'));
  });
}

test('reports all problems at once', () => {
  const { problems } = read({
    LATCHKEY_PORT: 'x',
    LATCHKEY_LOG_LEVEL: 'loud',
    LATCHKEY_EVENTS_RATE: '1',
  });
  assert.deepEqual(
    problems.map((problem) => problem.split(' ')[0]),
    ['LATCHKEY_PORT', 'LATCHKEY_LOG_LEVEL', 'LATCHKEY_EVENTS_RATE'],
  );
});

test('problems contain no secrets', () => {
  const output =
    problemOf({ DATABASE_URL: 'mysql://app:hunter2@db/x' }) +
    problemOf({ LATCHKEY_SECRET: 'hunter2' });
  assert.doesNotMatch(output, /hunter2/u);
});

test('reads a secret from its file, without the line break at the end', () => {
  const secret = 'Ab1'.repeat(4) + 'defghijklmnopqrstuvwxyz';
  const { environment, problems } = readEnvironment({ LATCHKEY_SECRET_FILE: '/run/s' }, (path) => {
    assert.equal(path, '/run/s');
    return `${secret}\n`;
  });
  assert.deepEqual(problems, []);
  assert.equal(environment.masterSecret, secret);
});

test('reports a secret that is set twice, and a secret file that is unreadable or empty', () => {
  assert.equal(
    problemOf({ REDIS_URL: 'redis://a', REDIS_URL_FILE: '/run/s' }),
    'REDIS_URL and REDIS_URL_FILE are both set: remove one of them.',
  );
  const missing = readEnvironment({ REDIS_URL_FILE: '/run/s' }, () => {
    throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
  });
  assert.deepEqual(missing.problems, [
    'REDIS_URL_FILE names /run/s, which cannot be read (ENOENT).',
  ]);
  const empty = readEnvironment({ REDIS_URL_FILE: '/run/s' }, () => '\n');
  assert.deepEqual(empty.problems, [
    'REDIS_URL_FILE names /run/s, which is empty: write the secret into it.',
  ]);
});

test('reports a misspelled name as a problem, an unknown name as a warning, and ignores Kubernetes links', () => {
  assert.equal(
    problemOf({ LATCHKEY_SECRT: 'x' }),
    'LATCHKEY_SECRT is not a setting of Latchkey: LATCHKEY_SECRET was probably meant.',
  );
  const { problems, warnings } = read({
    LATCHKEY_DOMAIN: 'example.com',
    LATCHKEY_SERVICE_HOST: '10.0.0.1',
    LATCHKEY_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
  });
  assert.deepEqual(problems, []);
  assert.deepEqual(warnings, ['LATCHKEY_DOMAIN is not a setting of Latchkey and has no effect.']);
});
