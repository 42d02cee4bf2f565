/** The tools on which the tests of installations depend. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { ACME_SERVER, startAcme } from './acme.ts';
import { findMissingRequirement } from './requirements.ts';
import { Machine } from './machine.ts';
import { compareSnapshots, takeSnapshot } from './snapshot.ts';
import { RELEASES } from './trees.ts';

const skip = findMissingRequirement() ?? false;

for (const release of ['bookworm', 'trixie'] as const) {
  test(
    `${RELEASES[release]} boots without a failed unit, and reboots with the same disk`,
    { skip },
    async () => {
      await using machine = await Machine.boot(release);
      const state = () => machine.succeed(['systemctl', 'is-system-running']);
      assert.equal(await state(), 'running\n');
      assert.match(machine.read('/etc/os-release'), new RegExp(`PRETTY_NAME="Debian.*${release}`));
      machine.write('/root/kept', 'kept');
      await machine.stop();
      await machine.start();
      assert.equal(await state(), 'running\n');
      assert.equal(await machine.succeed(['cat', '/root/kept']), 'kept');
    },
  );

  test(
    `certbot of ${RELEASES[release]} obtains a certificate of the authority`,
    { skip },
    async () => {
      await using machine = await Machine.boot(release);
      const { root } = await startAcme(machine);
      await machine.succeed([
        'certbot',
        'certonly',
        '--standalone',
        '--non-interactive',
        '--agree-tos',
        '--email=ops@example.test',
        '--no-eff-email',
        `--server=${ACME_SERVER}`,
        '--domain=watched.example.test',
      ]);
      machine.write('/root/root.pem', root);
      const live = '/etc/letsencrypt/live/watched.example.test';
      const untrusted = `-untrusted ${live}/chain.pem`;
      const verify = `openssl verify -CAfile /root/root.pem ${untrusted} ${live}/cert.pem`;
      assert.match(await machine.succeed(['sh', '-c', verify]), /: OK/);
    },
  );
}

test('a machine reaches only the network beside it', { skip }, async () => {
  await using machine = await Machine.boot('bookworm');
  const { stdout } = await machine.attempt(['ip', 'route', 'show', 'default']);
  assert.equal(stdout, '');
  const links = await machine.sandbox.succeed(['ip', '-brief', 'link']);
  assert.deepEqual(
    links
      .trim()
      .split('\n')
      .map((line) => /^[^@ ]+/.exec(line)?.[0]),
    ['lo', 've-watched'],
  );
});

test(
  'a comparison lists exactly the paths that were added, changed, removed or rewritten',
  { skip },
  async () => {
    await using machine = await Machine.boot('bookworm');
    const first = takeSnapshot(machine);
    assert.deepEqual(compareSnapshots(first, takeSnapshot(machine), { withTimes: true }), []);
    const script = `
    echo new >/etc/new; chmod 600 /etc/new
    chown 33:33 /etc/issue
    rm /etc/issue.net
    cp /etc/motd /etc/motd.new; mv /etc/motd.new /etc/motd
    rm -r /etc/nginx/sites-available; mkdir /etc/nginx/sites-available
    ln -sfn /nowhere /etc/localtime
    echo restless >>/var/log/new
  `;
    await machine.succeed(['sh', '-c', script]);
    const second = takeSnapshot(machine);
    assert.deepEqual(
      compareSnapshots(first, second, { withTimes: true }).map((line) =>
        line.replaceAll(/ \d+ [0-9a-f]{16} /g, ' … '),
      ),
      [
        '/etc/issue: file … 644 0:0 → file … 644 33:33',
        '/etc/issue.net: file … 644 0:0 → absent',
        '/etc/localtime: link to /usr/share/zoneinfo/Etc/UTC 777 0:0 → link to /nowhere 777 0:0',
        '/etc/motd: written anew',
        '/etc/new: absent → file … 600 0:0',
        '/etc/nginx/sites-available/default: file … 644 0:0 → absent',
      ],
    );
    await machine.succeed(['rm', '/etc/new']);
    const third = compareSnapshots(first, takeSnapshot(machine), { withTimes: false });
    assert.deepEqual(
      third.map((line) => /^[^:]+/.exec(line)?.[0]),
      ['/etc/issue', '/etc/issue.net', '/etc/localtime', '/etc/nginx/sites-available/default'],
    );
  },
);

test('a machine ends when the process that booted it is killed', { skip }, async () => {
  const module = fileURLToPath(new URL('machine.ts', import.meta.url));
  const script = `
    const { Machine } = await import(${JSON.stringify(module)});
    const machine = await Machine.boot('bookworm');
    console.log(machine.init);
    setInterval(() => undefined, 1000);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  const [printed]: unknown[] = await once(child.stdout, 'data');
  const init = Number(String(printed));
  assert.ok(existsSync(`/proc/${init}`));
  child.kill('SIGKILL');
  await once(child, 'exit');
  while (existsSync(`/proc/${init}`)) await new Promise((resolve) => setImmediate(resolve));
  await using next = await Machine.boot('bookworm');
  assert.equal(await next.succeed(['hostname']), 'watched\n');
  const groups = readdirSync('/sys/fs/cgroup', { recursive: true }).map(String);
  assert.deepEqual(
    groups.filter((path) => path.includes(`latchkey-${child.pid}-`)),
    [],
  );
});
