import assert from 'node:assert/strict';
import { utimesSync } from 'node:fs';
import { describe, test } from 'node:test';

import { FakeHost } from '../../../../test/fake-host.ts';
import type { Step } from '../../steps.ts';
import { applyPlan, undoUnfinished } from '../apply-plan.ts';
import { uninstall } from '../undo.ts';

const DOMAIN = 'monitor.example.test';
const ACCOUNTS = '/etc/letsencrypt/accounts/acme.test/dir';
const OTHER_RENEWAL = '/etc/letsencrypt/renewal/other.example.test.conf';
const steps: readonly Step[] = [
  {
    kind: 'certificate',
    domain: DOMAIN,
    email: 'operations@example.test',
    acmeServer: null,
    challenge: { kind: 'standalone' },
  },
];
const order = { steps, installed: '{}\n', verify: async () => undefined };

/** Runs an installation until certbot has registered its account, and leaves the state of a `kill -9`. */
async function kill(host: FakeHost): Promise<void> {
  host.intercept = (command) => {
    if (!command.startsWith('certbot certonly')) return null;
    host.write(`${ACCOUNTS}/1/regr.json`, '{}');
    throw new Error('killed');
  };
  const context = host.open();
  const progress = { ...context.progress, failed: () => assert.fail('killed') };
  await assert.rejects(applyPlan(order, { ...context, progress }));
  host.intercept = () => null;
}

/** Sets the time of a file to long after the killed run. */
function makeLater(host: FakeHost, path: string): void {
  const later = Date.now() / 1000 + 3600;
  utimesSync(host.at(path), later, later);
}

test('the undo of a killed installation removes the account that its certbot registered', async () => {
  using host = new FakeHost();
  const before = host.snapshot();
  await kill(host);
  await undoUnfinished(host.open());
  assert.deepEqual(host.snapshot(), before);
});

test('the undo of a killed installation keeps an account that another certificate is renewed with', async () => {
  using host = new FakeHost();
  await kill(host);
  host.write(OTHER_RENEWAL, 'authenticator = nginx\naccount = 1\n');
  await undoUnfinished(host.open());
  assert.equal(host.has(`${ACCOUNTS}/1/regr.json`), true);
});

test('the undo of a killed installation keeps every account where a renewal names none', async () => {
  using host = new FakeHost();
  await kill(host);
  host.write(OTHER_RENEWAL, 'authenticator = nginx\n');
  await undoUnfinished(host.open());
  assert.equal(host.has(`${ACCOUNTS}/1/regr.json`), true);
});

test('the undo of a killed installation keeps an account that was registered later', async () => {
  using host = new FakeHost();
  await kill(host);
  host.write(`${ACCOUNTS}/2/regr.json`, '{}');
  makeLater(host, `${ACCOUNTS}/2`);
  await undoUnfinished(host.open());
  assert.deepEqual(
    ['1', '2'].map((id) => host.has(`${ACCOUNTS}/${id}`)),
    [false, true],
  );
});

test('the undo of a killed installation keeps a certificate of the domain that was requested later', async () => {
  using host = new FakeHost();
  await kill(host);
  const certificate = `/etc/letsencrypt/archive/${DOMAIN}/cert1.pem`;
  const renewal = `/etc/letsencrypt/renewal/${DOMAIN}.conf`;
  host.write(certificate, 'certificate');
  makeLater(host, certificate);
  host.write(renewal, 'authenticator = nginx\naccount = 1\n');
  await undoUnfinished(host.open());
  assert.deepEqual(
    [certificate, renewal, `${ACCOUNTS}/1`].map((path) => host.has(path)),
    [true, true, true],
  );
  assert.match(host.reports.join(' '), /is kept, because it was requested after/u);
});

test('an uninstallation keeps an account that it did not register, and its logs', async () => {
  using host = new FakeHost();
  await applyPlan(order, host.open());
  host.write(`${ACCOUNTS}/2/regr.json`, '{}');
  await uninstall({ keepsConfiguration: false }, host.open());
  assert.deepEqual(
    [`${ACCOUNTS}/1`, `${ACCOUNTS}/2`, '/var/log/letsencrypt'].map((path) => host.has(path)),
    [false, true, true],
  );
});

test('an uninstallation removes what renewals left beside the certificate', async () => {
  using host = new FakeHost();
  const before = host.snapshot();
  await applyPlan(order, host.open());
  host.write('/etc/letsencrypt/csr/0001_csr-certbot.pem', 'request');
  makeLater(host, '/etc/letsencrypt/csr/0001_csr-certbot.pem');
  await uninstall({ keepsConfiguration: false }, host.open());
  assert.deepEqual(host.snapshot(), before);
});

describe('an installation for another domain', () => {
  const OTHER = 'next.example.test';
  const next = steps.map((step) =>
    step.kind === 'certificate' ? { ...step, domain: OTHER } : step,
  );
  const lineages = (host: FakeHost) =>
    [DOMAIN, OTHER].map((name) => host.has(`/etc/letsencrypt/renewal/${name}.conf`));

  test('removes an unused certificate, and leaves nothing when it is uninstalled', async () => {
    using host = new FakeHost();
    const before = host.snapshot();
    await applyPlan(order, host.open());
    host.keepsCertificate = (name) => name === OTHER;
    await applyPlan({ ...order, steps: next }, host.open());
    assert.deepEqual(lineages(host), [false, true]);
    assert.equal(host.has(`${ACCOUNTS}/1`), true, 'the other certificate is renewed with it');
    await uninstall({ keepsConfiguration: false }, host.open());
    assert.deepEqual(host.snapshot(), before);
  });

  test('keeps a certificate that is in use', async () => {
    using host = new FakeHost();
    await applyPlan(order, host.open());
    await applyPlan({ ...order, steps: next }, host.open());
    assert.deepEqual(lineages(host), [true, true]);
  });

  test('restores the certificate with its account when it fails', async () => {
    using host = new FakeHost();
    await applyPlan(order, host.open());
    const list = () =>
      Object.entries(host.snapshot()).filter(([name]) =>
        /letsencrypt.(?:accounts|live|renewal)/u.test(name),
      );
    const before = list();
    host.keepsCertificate = (name) => name === OTHER;
    const verify = async (): Promise<void> => {
      assert.deepEqual(lineages(host), [false, false]);
      throw new Error('nobody answers');
    };
    await assert.rejects(applyPlan({ ...order, steps: [], verify }, host.open()), /nobody/u);
    assert.deepEqual(list(), before);
  });
});

test('requests no certificate when the challenge would fail', async () => {
  using host = new FakeHost();
  host.challengeProblem = 'It is not answered.';
  const webroot = { kind: 'webroot', directory: '/var/www' } as const;
  const through = steps.map((step) =>
    step.kind === 'certificate' ? { ...step, challenge: webroot } : step,
  );
  await assert.rejects(applyPlan({ ...order, steps: through }, host.open()), /not answered/u);
  assert.equal(
    host.calls.some((each) => each.startsWith('certbot certonly')),
    false,
  );
});
