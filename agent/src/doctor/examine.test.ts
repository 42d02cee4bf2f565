import assert from 'node:assert/strict';
import { test } from 'node:test';

import { paths } from '../install/paths.ts';
import { examine } from './examine.ts';
import type { Inspection } from './inspect/inspection.ts';

import {
  inDays,
  agentProcess,
  nginxProcess,
  renewal,
  configuration,
  standalone,
  answer,
  proxied,
  listFaults,
  assertOnly,
} from './examine.fixture.ts';

test('reports no fault of a healthy machine, and runs every check', () => {
  for (const inspection of [standalone, proxied]) {
    const findings = examine(inspection);
    assert.equal(new Set(findings.map(({ check }) => check)).size, 18);
    assert.deepEqual(listFaults(inspection), []);
  }
  const states = examine(proxied).map(({ check, state }) => [check, state]);
  assert.deepEqual(
    states.filter(([, state]) => state !== 'ok'),
    [],
  );
});

test('expects 496 without a certificate, and names the authority’s file for one with a valid certificate', () => {
  const proxy = { ...proxied.proxy, health: answer(200, 'OK\n'), route: answer(496) };
  const refused = answer(496, 'client certificate rejected (FAILED:unable to get issuer)\n');
  assertOnly(
    { ...proxied, proxy: { ...proxy, routeWithCertificate: refused } },
    'proxy_certificates',
    'problem',
    "nginx cannot use the authority's file /etc/latchkey-agent/pki/ca.pem or the list /etc/latchkey-agent/pki/crl.pem: client certificate rejected (FAILED:unable to get issuer).",
    /chmod 644.*refresh-list/u,
  );
});

test('reports a proxy that does not forward the client certificate', () => {
  const cause = 'The proxy did not pass on the certificate of the client.';
  const proxy = { health: answer(200, 'OK\n'), route: answer(496) };
  const inspection = {
    ...proxied,
    proxy: { ...proxy, routeWithCertificate: answer(403, cause, true) },
  };
  assertOnly(inspection, 'proxy_certificates', 'problem', cause, /^Install again, /u);
  const { installed } = proxied;
  assert.ok(installed !== null);
  const byHand = { ...inspection, installed: { ...installed, proxyByHand: true } };
  assertOnly(byHand, 'proxy_certificates', 'problem', cause, /--dry-run$/u);
});

test('reports an open route with mutual TLS', () => {
  const proxy = {
    health: answer(200, 'OK\n'),
    route: answer(200),
    routeWithCertificate: answer(200),
  };
  assertOnly(
    { ...proxied, proxy },
    'proxy_certificates',
    'problem',
    'The server block does not verify, or its route does not ask for the result.',
    /ssl_verify_client is "optional"/u,
  );
});

test('explains 502 on the route by a stopped agent', () => {
  const proxy = { ...proxied.proxy, health: answer(200, 'OK\n'), route: answer(496) };
  const inspection: Inspection = {
    ...proxied,
    proxy: { ...proxy, routeWithCertificate: answer(502) },
    unit: { isLoaded: true, activeState: 'failed', result: 'exit-code', isEnabled: true },
    agentFault: 'The agent does not answer on 127.0.0.1:4096: connect ECONNREFUSED.',
    listeners: proxied.listeners.filter(({ port }) => port !== 4096),
  };
  assert.deepEqual(
    listFaults(inspection).map(({ check, cause }) => [check, cause]),
    [
      ['agent_running', 'latchkey-agent.service is failed (exit-code).'],
      ['agent_reachable', 'The agent does not answer on 127.0.0.1:4096: connect ECONNREFUSED.'],
      ['proxy_route', 'The agent does not run, or does not listen on 127.0.0.1:4096.'],
    ],
  );
});

test('explains 404 on the health route by a missing route', () => {
  const proxy = { health: answer(404), route: answer(496), routeWithCertificate: answer(200) };
  assertOnly(
    { ...proxied, proxy },
    'proxy_health',
    'problem',
    'No server block of m.example.com in nginx has the route of the agent.',
    /include \/etc\/nginx\/snippets\/latchkey-agent\.conf;/u,
  );
});

test('reports a running nginx that reads another configuration', () => {
  const { nginx, installed } = proxied;
  assert.ok(nginx && installed);
  const foreign =
    'The nginx that runs (process 77: nginx) reads /opt/nginx.conf, and the command nginx here reads /etc/nginx/nginx.conf.';
  const inspection = { ...proxied, nginx: { ...nginx, foreign } };
  assertOnly(inspection, 'server_names', 'problem', foreign, /systemctl restart nginx/u);
  assert.deepEqual(
    listFaults({ ...inspection, installed: { ...installed, proxyByHand: true } }),
    [],
  );
});

test('reports another program on the agent’s port', () => {
  const other = { pid: 9, name: 'python3', unit: null };
  const agentFault = 'The program on port 4096 is not the agent.';
  const listeners = [{ port: 4096, address: '0.0.0.0', process: other }];
  const [port, answers] = listFaults({ ...standalone, listeners, agentFault });
  assert.equal(port?.check, 'ports');
  assert.equal(port.cause, 'python3 (pid 9) listens on 0.0.0.0:4096.');
  assert.match(port.fix, /^Stop it, or change the port of the agent/u);
  assert.equal(answers?.cause, agentFault);
});

test('reports a web server on the port 80 that certbot needs', () => {
  const web = { pid: 5, name: 'apache2', unit: 'apache2.service' };
  assertOnly(
    {
      ...standalone,
      listeners: [...standalone.listeners, { port: 80, address: '::', process: web }],
    },
    'ports',
    'problem',
    'apache2 (pid 5) listens on port 80, which certbot itself needs, because m.example.com was issued with --standalone.',
    /systemctl stop apache2\.service/u,
  );
});

test('reports a certificate that is expired or unreadable for the agent', () => {
  const message = '/etc/a/cert.pem expired on 2027-02-01T00:00:00.000Z: renew it.';
  const problems = [
    { code: 'certificate_expired' as const, message },
    { code: 'port_unusable' as const, message: 'Port 4096 is in use by another program.' },
  ];
  assertOnly(
    {
      ...standalone,
      configuration: configuration('0.0.0.0', {
        findings: { problems, warnings: [] },
      }),
    },
    'certificate',
    'problem',
    message,
    /certbot renew --cert-name m\.example\.com --force-renewal/u,
  );
  assertOnly(
    { ...standalone, configuration: configuration('0.0.0.0', { unreadable: ['/etc/a/key.pem'] }) },
    'certificate',
    'problem',
    'The user latchkey-agent may not read /etc/a/key.pem.',
    /chmod 640 \/etc\/a\/key\.pem/u,
  );
});

test('reports the clock, and no expiry, when a certificate is not valid yet', () => {
  const problem = { code: 'certificate_not_yet_valid' as const, message: 'A sentence.' };
  const findings = { problems: [problem], warnings: [] };
  const early = { ...standalone, configuration: configuration('0.0.0.0', { findings }) };
  assert.deepEqual(
    listFaults(early).map(({ check, state }) => [check, state]),
    [
      ['certificate', 'problem'],
      ['clock', 'problem'],
    ],
  );
});

test('warns of a certificate that expires soon', () => {
  const message = '/etc/a/cert.pem expires on 2027-03-10T00:00:00.000Z, in 8 days: renew it.';
  const findings = { problems: [], warnings: [{ code: 'certificate_expiring' as const, message }] };
  assertOnly(
    { ...standalone, configuration: configuration('0.0.0.0', { findings }) },
    'certificate',
    'warning',
    `${message} It should have been renewed by now.`,
    /--force-renewal/u,
  );
});

test('reports a certificate that certbot does not renew', () => {
  assertOnly(
    { ...standalone, renewal: { ...renewal, expiresAt: inDays(5) } },
    'renewal',
    'warning',
    'The certificate m.example.com has 5 days left: certbot renews it a month before.',
    /certbot renew --cert-name m\.example\.com --dry-run/u,
  );
  assertOnly(
    { ...standalone, renewal: { ...renewal, authenticator: 'webroot' } },
    'renewal',
    'problem',
    'certbot renews m.example.com through a web server on port 80 (webroot), and none is running.',
    /systemctl start nginx.*latchkey-agent install --email ADDRESS/u,
  );
});

test('reports a route to an earlier port of the agent', () => {
  assert.ok(proxied.nginx);
  const text = 'location = /latchkey {\n    proxy_pass https://127.0.0.1:4096/;\n}\n';
  const file = { path: paths.nginxRoute, realPath: paths.nginxRoute, text, isWritable: true };
  const nginx = { ...proxied.nginx, files: [file] };
  assert.deepEqual(listFaults({ ...proxied, nginx }), []);
  const moved = {
    ...proxied,
    nginx,
    configuration: configuration('127.0.0.1', {}, 5000),
    listeners: [
      { port: 80, address: '0.0.0.0', process: nginxProcess },
      { port: 5000, address: '127.0.0.1', process: agentProcess },
    ],
  };
  assertOnly(
    moved,
    'proxy_route',
    'problem',
    'nginx passes it to 127.0.0.1:4096, but /etc/latchkey-agent/agent.yaml sets the agent to port 5000.',
    /^Have nginx follow: latchkey-agent install; or set listen: 127\.0\.0\.1:4096/u,
  );
});

test('accepts 403 of a manual web server, and does not call it nginx', () => {
  assert.ok(proxied.installed && proxied.proxy);
  const byHand = { ...proxied, installed: { ...proxied.installed, proxyByHand: true } };
  const asApache = { ...proxied.proxy, route: answer(403, 'A client certificate is needed.') };
  assert.deepEqual(listFaults({ ...byHand, proxy: asApache }), []);
  const [refused] = listFaults({
    ...byHand,
    proxy: { ...asApache, routeWithCertificate: answer(403) },
  });
  assert.equal(refused?.symptom, '403, though the client has a valid certificate.');
  const silent = (code: string) => {
    const none = { status: null, fault: `${code} 127.0.0.1:443`, code } as const;
    return listFaults({
      ...byHand,
      proxy: { health: none, route: none, routeWithCertificate: none },
    });
  };
  assert.deepEqual(silent('ECONNRESET'), [], 'a load balancer alone may be answered');
  const stopped = silent('ECONNREFUSED');
  assert.deepEqual(
    stopped.map(({ check }) => check),
    ['proxy_health', 'proxy_route'],
  );
  assert.doesNotMatch(JSON.stringify(stopped), /nginx/u);
});

test('reports two server blocks of one name', () => {
  const warnings = ['conflicting server name "m.example.com" on 0.0.0.0:443, ignored'];
  const nginx = { version: '1.22.1', isRunning: true, files: [], fault: null, foreign: null };
  assertOnly(
    { ...proxied, nginx: { ...nginx, warnings } },
    'server_names',
    'problem',
    `Several server blocks are for the same name: ${warnings[0]}`,
    /Keep one of them/u,
  );
  assert.deepEqual(
    listFaults({ ...proxied, nginx: { ...nginx, warnings: ['conflicting server name "other"'] } }),
    [],
  );
});

test('reports a standalone agent on loopback', () => {
  assertOnly(
    { ...standalone, configuration: configuration('127.0.0.1') },
    'bind_address',
    'problem',
    'It was installed in standalone mode, and listens on 127.0.0.1 only.',
    /listen: 0\.0\.0\.0:4096/u,
  );
});

test('reports an exposed agent behind a proxy', () => {
  assertOnly(
    { ...proxied, configuration: configuration('0.0.0.0') },
    'bind_address',
    'problem',
    'The agent listens on 0.0.0.0, so that anyone can bypass the proxy.',
    /listen: 127\.0\.0\.1:4096/u,
  );
});

test('reports an outdated revocation list, and warns without a timer', () => {
  const revocations = { path: '/etc/a/crl.pem', isTimerActive: true };
  assertOnly(
    { ...proxied, revocations: { ...revocations, nextUpdate: inDays(-1) } },
    'revocations',
    'problem',
    '/etc/a/crl.pem expired on 2027-02-28T12:00:00.000Z.',
    /client-cert refresh-list/u,
  );
  assertOnly(
    { ...proxied, revocations: { ...revocations, isTimerActive: false, nextUpdate: inDays(300) } },
    'revocations',
    'warning',
    '/etc/a/crl.pem is valid until 2027-12-26T12:00:00.000Z, and no timer renews it.',
    /enable --now latchkey-agent-revocations\.timer/u,
  );
});

test('warns of an unsynchronized clock', () => {
  assertOnly(
    { ...standalone, isClockSynchronized: false },
    'clock',
    'warning',
    'The clock of this machine is not synchronized.',
    /timedatectl set-ntp true/u,
  );
});

test('reports an invalid configuration once, and skips the checks that need it', () => {
  const path = '/etc/latchkey-agent/agent.yaml';
  assertOnly(
    {
      ...standalone,
      configuration: { kind: 'invalid', path, problems: ['agent.yaml:3: listen is no address.'] },
    },
    'configuration',
    'problem',
    'agent.yaml:3: listen is no address.',
    /latchkey-agent validate/u,
  );
});
