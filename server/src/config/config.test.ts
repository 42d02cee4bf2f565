import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findConflicts, toConfig } from './config.ts';
import { readEnvironment } from './env.ts';
import type { Environment, Variables } from './env.ts';

function environmentOf(variables: Variables): Environment {
  const { environment, problems } = readEnvironment(variables, () => '');
  assert.deepEqual(problems, []);
  return environment;
}

function configOf(variables: Variables) {
  return toConfig(environmentOf(variables), '/srv/latchkey');
}

test('the defaults serve this machine only, on an embedded database', () => {
  const { catalogPath, ...config } = configOf({});
  assert.match(catalogPath, /catalog\.example\.yaml$/u);
  assert.deepEqual(config, {
    http: {
      host: '127.0.0.1',
      port: 8080,
      publicUrl: 'http://127.0.0.1:8080',
      trustedProxies: ['127.0.0.0/8', '::1/128'],
    },
    log: { level: 'info' },
    dataDirectory: '/srv/latchkey/data',
    database: { kind: 'embedded', poolSize: 16, replicaMaxLagSeconds: 60, account: null },
    metrics: { host: '127.0.0.1', port: null },
    storage: { quotaMib: 256 },
    events: { rate: { perSecond: 100, burst: 300 }, names: [], keepDays: 396 },
    billing: {
      toleranceSeconds: 30,
      revealHours: 24,
      rawKeepDays: 396,
      paddleApiUrl: 'https://api.paddle.com',
      gumroadApiUrl: 'https://api.gumroad.com',
      stripeApiUrl: 'https://api.stripe.com',
    },
    mail: { from: null, dkim: null },
    subscribers: { doubleOptIn: true, rate: { perMinute: 5, burst: 5 } },
    outgoingWebhooks: { allowedNetworks: [] },
    operators: { passwords: true, oidc: null, trustedHeader: null },
  });
});

test('LATCHKEY_PORT overrides PORT, which overrides the default', () => {
  assert.equal(configOf({ PORT: '3000' }).http.port, 3000);
  assert.equal(configOf({ PORT: '3000', LATCHKEY_PORT: '0' }).http.port, 0);
});

test('derives the public URL from host and port by default', () => {
  for (const [host, port, expected] of [
    ['0.0.0.0', '80', 'http://localhost'],
    ['::', '8080', 'http://localhost:8080'],
    ['::1', '8080', 'http://[::1]:8080'],
    ['host.internal', '1', 'http://host.internal:1'],
  ]) {
    const config = configOf({ LATCHKEY_HOST: host, LATCHKEY_PORT: port });
    assert.equal(config.http.publicUrl, expected);
  }
});

test('the configuration contains no secret', () => {
  const secrets = {
    LATCHKEY_SECRET: 'hunter2-hunter2-hunter2-hunter2-abcdef',
    DATABASE_URL: 'postgres://a:hunter2@db/x',
    REDIS_URL: 'redis://:hunter2@r',
    LATCHKEY_METRICS_TOKEN: 'hunter2-hunter2-hunter2',
    LATCHKEY_BILLING_SECRETS: 'hunter2-hunter2-hunter2',
    LATCHKEY_PADDLE_API_KEY: 'hunter2',
    LATCHKEY_SMTP_URL: 'smtp://a:hunter2@m',
    LATCHKEY_MAIL_FROM: 'a@example.com',
    LATCHKEY_OUTREACH_API_KEY: 'hunter2-hunter2-hunter2',
  };
  const config = configOf(secrets);
  assert.equal(config.database.kind, 'external');
  assert.doesNotMatch(JSON.stringify(config), /hunter2/u);
});

test('reports contradictory settings', () => {
  const conflicts = findConflicts(
    environmentOf({
      LATCHKEY_DKIM_DOMAIN: 'example.com',
      LATCHKEY_SMTP_URL: 'smtp://mail.example.com',
      LATCHKEY_METRICS_PORT: '8080',
      LATCHKEY_REPLICA_URL: 'postgres://replica/latchkey',
    }),
  );
  assert.deepEqual(
    conflicts.map((problem) => problem.split(/[ ,]/u)[0]),
    ['LATCHKEY_DKIM_DOMAIN', 'LATCHKEY_MAIL_FROM', 'LATCHKEY_REPLICA_URL', 'LATCHKEY_METRICS_PORT'],
  );
  assert.deepEqual(findConflicts(environmentOf({})), []);
});

test('reports settings of operators that are incomplete or unsafe', () => {
  const provider = { LATCHKEY_OIDC_CLIENT_ID: 'latchkey', LATCHKEY_OIDC_ROLES: 'admin=staff' };
  const isPlain = (issuer: string): boolean =>
    findConflicts(environmentOf({ ...provider, LATCHKEY_OIDC_ISSUER: issuer })).length > 0;
  for (const [issuer, refused] of [
    ['https://login.example.com', false],
    ['http://login.example.com', true],
    ['http://127.0.0.1:9000', false],
    ['http://localhost/realm', false],
    ['http://[::1]:9000', false],
    ['http://localhost.example.com', true],
    ['http://127.example.com', true],
  ] as const) {
    assert.equal(isPlain(issuer), refused, issuer);
  }
  for (const settings of [
    provider,
    { LATCHKEY_TRUSTED_HEADER: 'X-Forwarded-Email' },
    { LATCHKEY_TRUSTED_HEADER_PROXIES: '10.0.0.5' },
    { LATCHKEY_PASSWORDS: 'off' },
  ]) {
    assert.equal(findConflicts(environmentOf(settings)).length, 1, JSON.stringify(settings));
  }
});
