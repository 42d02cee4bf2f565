/** Behind a web server that its owner sets up: what is printed is pasted as it is, and leads to the agent. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { ask } from './ask.ts';
import { HEALTH_URL } from './check-wire.ts';
import { expectSuccess } from './commands.ts';
import { Installation } from './installation.ts';
import { whySystemsCannotRun } from './lacks.ts';
import type { Machine } from './machine.ts';
import { unpackPackages } from './packages.ts';
import { compareSnapshots, takeSnapshot } from './snapshot.ts';
import { DOMAIN, MAKE_OWN_CERTIFICATE, OWN_ROOT } from './web-servers.ts';

const skip = whySystemsCannotRun() ?? false;
const packages = skip === false ? await unpackPackages() : null;
after(() => packages?.[Symbol.dispose]());

const STREAM_URL = `wss://${DOMAIN}/latchkey`;
const SITE = '/etc/apache2/sites-enabled/own.conf';
const PASTED = '/etc/apache2/pasted.conf';

/** What the lines have brought, and what Apache notes when its modules are turned off. */
const TAKE_BACK = `rm -r /root/viewer /root/viewer.tar.gz ${PASTED} /etc/apache2/latchkey-agent-proxy.pem
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
  'behind Apache the printed lines, pasted, lead to the agent, and are not printed again',
  { skip },
  async () => {
    if (packages === null) throw new Error('There are no packages.');
    await using installation = await Installation.prepare(
      {
        release: 'bookworm',
        webServer: 'Apache on 80',
        mode: 'proxy',
        mutualTls: true,
        expected: 'by hand',
      },
      packages,
    );
    const { machine } = installation;
    await serveWithTls(machine);
    const before = takeSnapshot(machine);
    const byHand = ['--proxy-by-hand', 'yes'];
    const printed = expectSuccess(await installation.install(packages.current, byHand)).stdout;
    await paste(machine, printed);

    const ca = machine.read(OWN_ROOT);
    const client = { ...(await installation.makeClient('viewer')), ca };
    const health = await ask(machine.place, HEALTH_URL, { ca });
    assert.deepEqual([health.status, health.text], [200, 'OK\n']);
    assert.equal((await ask(machine.place, STREAM_URL, { ca })).status, 403);
    assert.equal((await ask(machine.place, STREAM_URL, client)).status, 101);
    await machine.succeed(['latchkey-agent', 'doctor']);

    const again = expectSuccess(await installation.install(packages.current, byHand));
    assert.match(printed, /ProxyPass/);
    assert.doesNotMatch(again.stdout, /ProxyPass/);
    await machine.succeed(['sh', '-ec', TAKE_BACK]);
    expectSuccess(await installation.uninstall());
    assert.deepEqual(compareSnapshots(before, takeSnapshot(machine), { withTimes: false }), []);
  },
);

/** As its owner had it before. */
async function serveWithTls(machine: Machine): Promise<void> {
  await machine.succeed(['sh', '-c', MAKE_OWN_CERTIFICATE]);
  machine.write(SITE, HTTPS_SITE);
  await machine.succeed(['sh', '-c', 'a2enmod ssl && systemctl restart apache2']);
}

/** Does what is said: indented is what is to be typed, what is to be pasted, and what is to be typed then. */
async function paste(machine: Machine, printed: string): Promise<void> {
  const [typed = '', pasted = '', typedThen = ''] = printed
    .split(/\n(?=\S)/)
    .map(takeIndented)
    .filter((text) => text !== '');
  await machine.succeed(['sh', '-ec', typed]);
  machine.write(PASTED, pasted);
  await machine.succeed(['sh', '-ec', typedThen]);
}

function takeIndented(part: string): string {
  const indented = part.split('\n').filter((line) => line.startsWith('    '));
  return indented.map((line) => `${line.slice(4)}\n`).join('');
}
