/** A web server that its owner configures with the printed lines passes viewers to the agent. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { sendRequest } from './request.ts';
import { HEALTH_URL } from './check-wire.ts';
import { expectSuccess } from './commands.ts';
import { Installation } from './installation.ts';
import { findMissingRequirement } from './requirements.ts';
import type { Machine } from './machine.ts';
import { unpackPackages } from './packages.ts';
import { compareSnapshots, takeSnapshot } from './snapshot.ts';
import { DOMAIN, CREATE_OWN_CERTIFICATE, OWN_ROOT } from './web-servers.ts';

const skip = findMissingRequirement() ?? false;
const packages = skip === false ? await unpackPackages() : null;
after(() => packages?.[Symbol.dispose]());

const STREAM_URL = `wss://${DOMAIN}/latchkey`;
const SITE = '/etc/apache2/sites-enabled/own.conf';
const PASTED = '/etc/apache2/pasted.conf';

/** Removes the pasted files, and the files that Apache writes when modules are disabled. */
const REVERT = `rm -r /root/viewer /root/viewer.tar.gz ${PASTED} /etc/apache2/latchkey-agent-proxy.pem
a2dismod proxy_wstunnel proxy_http proxy headers
rm -r /var/lib/apache2/module/disabled_by_admin`;

const HTTPS_SITE = `<VirtualHost *:443>
    ServerName ${DOMAIN}
    DocumentRoot /var/www/html
    SSLEngine on
    SSLCertificateFile /etc/ssl/own/own.pem
    SSLCertificateKeyFile /etc/ssl/own/own.key
    IncludeOptional ${PASTED}
</VirtualHost>
`;

test(
  'the printed lines for Apache pass viewers to the agent, and are not printed again',
  { skip },
  async () => {
    if (packages === null) throw new Error('There are no packages.');
    await using installation = await Installation.prepare(
      {
        release: 'bookworm',
        webServer: 'Apache on 80',
        mode: 'proxy',
        mutualTls: true,
        expected: 'manual',
      },
      packages,
    );
    const { machine } = installation;
    await serveWithTls(machine);
    const before = takeSnapshot(machine);
    const manual = ['--proxy-by-hand', 'yes'];
    const printed = expectSuccess(await installation.install(packages.current, manual)).stdout;
    await paste(machine, printed);

    const ca = machine.read(OWN_ROOT);
    const client = { ...(await installation.createClient('viewer')), ca };
    const health = await sendRequest(machine.sandbox, HEALTH_URL, { ca });
    assert.deepEqual([health.status, health.text], [200, 'OK\n']);
    assert.equal((await sendRequest(machine.sandbox, STREAM_URL, { ca })).status, 403);
    assert.equal((await sendRequest(machine.sandbox, STREAM_URL, client)).status, 101);
    await machine.succeed(['latchkey-agent', 'doctor']);

    const again = expectSuccess(await installation.install(packages.current, manual));
    assert.match(printed, /ProxyPass/);
    assert.doesNotMatch(again.stdout, /ProxyPass/);
    await machine.succeed(['sh', '-ec', REVERT]);
    expectSuccess(await installation.uninstall());
    assert.deepEqual(compareSnapshots(before, takeSnapshot(machine), { withTimes: false }), []);
  },
);

/** Configures the site as its owner had it before. */
async function serveWithTls(machine: Machine): Promise<void> {
  await machine.succeed(['sh', '-c', CREATE_OWN_CERTIFICATE]);
  machine.write(SITE, HTTPS_SITE);
  await machine.succeed(['sh', '-c', 'a2enmod ssl && systemctl restart apache2']);
}

/** Follows the printed instructions: the indented parts are commands, lines to paste, and commands. */
async function paste(machine: Machine, printed: string): Promise<void> {
  const [commands = '', lines = '', lastCommands = ''] = printed
    .split(/\n(?=\S)/)
    .map(takeIndented)
    .filter((text) => text !== '');
  await machine.succeed(['sh', '-ec', commands]);
  machine.write(PASTED, lines);
  await machine.succeed(['sh', '-ec', lastCommands]);
}

function takeIndented(part: string): string {
  const indented = part.split('\n').filter((line) => line.startsWith('    '));
  return indented.map((line) => `${line.slice(4)}\n`).join('');
}
