/** Revocations and uninstallations behind nginx, on a whole system. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { REVOCATION_APPLIED_NOTE } from '#agent/cli/client-cert-actions.ts';
import { paths } from '#agent/install/paths.ts';
import { REVOKED_REASON } from '#agent/tls/client-certificate.ts';

import { sendRequest } from './request.ts';
import type { Cell } from './cells.ts';
import { checkOwnPage, streamUrl } from './check-wire.ts';
import { expectSuccess } from './commands.ts';
import { Installation } from './installation.ts';
import { findMissingRequirement } from './requirements.ts';
import { unpackPackages } from './packages.ts';
import { describeOutcome } from './run-cell.ts';
import { compareSnapshots, takeSnapshot } from './snapshot.ts';

const skip = findMissingRequirement() ?? false;
const packages = skip === false ? await unpackPackages() : null;
after(() => packages?.[Symbol.dispose]());

const SITE = '/etc/nginx/sites-available/own';

/** As certbot sets them: sessions outlive reloads, and nginx reads no list when it resumes one. */
const SESSIONS =
  'ssl_session_cache shared:own:1m; ssl_session_timeout 1440m; ssl_session_tickets off; ssl_protocols TLSv1.2 TLSv1.3;';

for (const release of ['bookworm', 'trixie'] as const) {
  test(
    `a revocation closes the connection through nginx and ends TLS sessions (${release})`,
    { skip },
    async () => {
      await using installation = await prepare(release, true);
      const { machine } = installation;
      const site = machine.read(SITE).replace('listen 443 ssl;', `listen 443 ssl; ${SESSIONS}`);
      machine.write(SITE, site);
      await machine.succeed(['systemctl', 'reload', 'nginx.service']);
      expectSuccess(await installation.install(getPackages().current));
      const client = await installation.createClient('anna');
      const url = streamUrl(installation);
      const versions = ['TLSv1.2', 'TLSv1.3'] as const;
      const sessions = await Promise.all(
        versions.map(async (maxVersion) => {
          const { status, text, session } = await sendRequest(machine.sandbox, url, {
            ...client,
            maxVersion,
          });
          assert.equal(status, 101, text);
          assert.notEqual(session, '');
          return { ca: installation.ca, maxVersion, session };
        }),
      );
      for (const resumed of sessions)
        assert.equal((await sendRequest(machine.sandbox, url, resumed)).status, 101);

      const watching = sendRequest(machine.sandbox, url, { ...client, watchesToEnd: true });
      const isWatched = `until ss -Htn state established 'sport = :4096' | grep -q .; do sleep 0.1; done`;
      await machine.succeed(['timeout', '30', 'sh', '-c', isWatched]);
      const revoked = await machine.attempt(['latchkey-agent', 'client-cert', 'revoke', 'anna']);
      assert.ok(revoked.stderr.includes(REVOCATION_APPLIED_NOTE), revoked.stderr);
      const { status, text } = await watching;
      assert.deepEqual([status, text], [101, REVOKED_REASON]);
      for (const resumed of sessions) {
        const answer = await sendRequest(machine.sandbox, url, resumed);
        assert.deepEqual([answer.status, answer.text], [403, `${REVOKED_REASON}\n`]);
      }
    },
  );
}

test(
  'nginx starts after an uninstallation, in whatever form the snippet was included',
  { skip },
  async () => {
    await using installation = await prepare('bookworm', false);
    const { machine } = installation;
    const before = takeSnapshot(machine);
    expectSuccess(await installation.install(getPackages().current));
    for (const include of [
      'include snippets/latchkey-agent.conf ;',
      'include   "/etc/nginx/snippets/latchkey-agent.conf";',
    ]) {
      const site = machine
        .read(SITE)
        .replace(/include [^;]*latchkey-agent.conf"? *;( #.*)?/, include);
      assert.ok(site.includes(include));
      machine.write(SITE, site);
      expectSuccess(await installation.upgrade(getPackages().next));
      assert.equal(machine.read(SITE), site);
    }
    expectSuccess(await installation.uninstall());
    await machine.succeed(['systemctl', 'restart', 'nginx.service']);
    await checkOwnPage(installation);
    assert.deepEqual(
      compareSnapshots(before, takeSnapshot(machine), { withTimes: false }).filter(
        // The owner has changed its line.
        (line) => !line.startsWith(SITE),
      ),
      [],
    );
  },
);

test(
  'an uninstallation leaves an empty snippet where another file still includes it',
  { skip },
  async () => {
    await using installation = await prepare('bookworm', false);
    const { machine } = installation;
    expectSuccess(await installation.install(getPackages().current));
    // A file that no search of /etc/nginx finds.
    machine.write('/srv/more.conf', `include ${paths.nginxRoute};\n`);
    const site = machine
      .read(SITE)
      .replace(/include [^;]*latchkey-agent.conf;.*/, 'include /srv/more.conf;');
    machine.write(SITE, site);
    const outcome = expectSuccess(await installation.uninstall());
    assert.match(
      outcome.stdout + outcome.stderr,
      new RegExp(`^${paths.nginxRoute} .*\\bempty\\b`, 'm'),
      describeOutcome(outcome),
    );
    await machine.succeed(['systemctl', 'restart', 'nginx.service']);
    await checkOwnPage(installation);
  },
);

async function prepare(release: Cell['release'], mutualTls: boolean): Promise<Installation> {
  const cell: Cell = {
    release,
    webServer: 'nginx with the domain over https',
    mode: 'auto',
    mutualTls,
    expected: 'proxy',
  };
  return Installation.prepare(cell, getPackages());
}

function getPackages(): NonNullable<typeof packages> {
  if (packages === null) throw new Error('There are no packages.');
  return packages;
}
