/** Failures of an installation: the installer explains each, and leaves the machine as it was. */
import { setAddress } from './acme.ts';
import type { Installation } from './installation.ts';
import type { Packages } from './packages.ts';
import { DOMAIN, type WebServer } from './web-servers.ts';

interface InstallFailure {
  readonly name: string;
  readonly webServer: WebServer;
  /** Variables with wrong values. */
  readonly args?: readonly string[];
  /** A variable that is left out. */
  readonly without?: string;
  readonly arrange?: (installation: Installation, packages: Packages) => Promise<unknown>;
  /** The exit code of the installer. */
  readonly code: number;
  /** The facts that the message contains: an option, a path, an error code. Unit tests assert its wording. */
  readonly facts: RegExp;
}

/** Fills the disk but for 8 MB; the machine can still read its own files. */
const FILL_DISK = `mkdir /mnt/full && mount -t tmpfs -o size=8m tmpfs /mnt/full && cd /mnt/full && mkdir upper work &&
mount -t overlay overlay -o lowerdir=/usr/lib,upperdir=upper,workdir=work /usr/lib`;

/** Debian's nginx with another main file, whose includes are relative to it. */
const START_FROM_COPY = `cp -a /etc/nginx /srv/nginx; systemctl stop nginx; nginx -c /srv/nginx/nginx.conf`;

export const INSTALL_FAILURES: readonly InstallFailure[] = [
  {
    name: 'an invalid domain',
    webServer: 'no web server',
    args: ['--domain', 'not_a_domain'],
    code: 78,
    facts: /--domain\b.*\bmonitor\.example\.com/,
  },
  {
    name: 'an invalid mode',
    webServer: 'no web server',
    args: ['--mode', 'sideways'],
    code: 78,
    facts: /--mode\b.*\bstandalone\b/,
  },
  {
    name: 'a missing e-mail address',
    webServer: 'no web server',
    without: 'LATCHKEY_EMAIL',
    code: 78,
    facts: /--email\b.*\bLATCHKEY_EMAIL\b/,
  },
  {
    name: 'a given certificate that does not exist',
    webServer: 'no web server',
    args: ['--cert-file', '/root/none.pem', '--key-file', '/root/none.key'],
    code: 1,
    facts: / \/root\/none\.pem\./,
  },
  {
    name: 'port 4096 in use',
    webServer: 'no web server',
    arrange: (installation, packages) => occupy(installation, packages, 4096),
    code: 1,
    facts: /\b4096\b.*\bnode\b/,
  },
  {
    name: 'port 80 in use by an unknown program',
    webServer: 'no web server',
    arrange: (installation, packages) => occupy(installation, packages, 80),
    code: 3,
    facts: /\b80\b.*\bnode\b/,
  },
  {
    name: 'a domain that resolves to another machine',
    webServer: 'no web server',
    arrange: ({ machine }) => setAddress(machine.sandbox, DOMAIN, '203.0.113.99'),
    code: 1,
    facts: /\b203\.0\.113\.99\b/,
  },
  {
    name: 'an unreachable name server',
    webServer: 'no web server',
    arrange: async ({ machine }) => machine.write('/etc/resolv.conf', 'nameserver 127.0.0.1\n'),
    code: 1,
    facts: new RegExp(`^✗ .*\\b${DOMAIN}\\b.*\\bECONNREFUSED\\b`, 'm'),
  },
  {
    name: 'an invalid configuration of nginx',
    webServer: 'nginx with the domain over https',
    arrange: async ({ machine }) =>
      machine.write('/etc/nginx/conf.d/broken.conf', 'server { listen 8080 \n'),
    code: 1,
    facts: /\/broken\.conf\b/,
  },
  {
    name: 'an nginx with another main file',
    webServer: 'nginx with another site',
    arrange: ({ machine }) => machine.succeed(['sh', '-ec', START_FROM_COPY]),
    code: 3,
    facts: /-c \/srv\/nginx\/nginx\.conf\).* \/srv\/nginx\/nginx\.conf\b.*--proxy-by-hand/s,
  },
  {
    name: 'a firewall that blocks port 80',
    webServer: 'no web server',
    arrange: ({ machine }) => machine.succeed(['ufw', '--force', 'enable']),
    code: 1,
    facts: /^✗ ufw .*\b80\b.*--open-firewall/m,
  },
  {
    name: 'a read-only file system',
    webServer: 'no web server',
    arrange: ({ machine }) =>
      machine.succeed(['sh', '-c', 'mount --bind /etc /etc && mount -o remount,ro,bind /etc']),
    code: 1,
    facts: /^✗ \/etc .*\bremount,rw\b/m,
  },
  {
    name: 'a full disk',
    webServer: 'no web server',
    // The program is installed as a whole, in files of many megabytes.
    arrange: ({ machine }) => machine.succeed(['sh', '-c', FILL_DISK]),
    code: 1,
    facts: /^✗ .*\bENOSPC\b/m,
  },
  {
    name: 'an unreachable authority',
    webServer: 'nginx with another site',
    arrange: ({ machine }) => machine.sandbox.succeed(['pkill', '-x', 'pebble']),
    code: 1,
    facts: /certificate|certbot/i,
  },
];

/** Makes a program listen on a port until the machine ends. */
async function occupy(
  { machine }: Installation,
  { current }: Packages,
  port: number,
): Promise<void> {
  const node = current.command.replace('bin/latchkey-agent', 'lib/node');
  const listen = `require('net').createServer().listen(${port})`;
  await machine.succeed(['systemd-run', '--unit=occupier', node, '--eval', listen]);
  const isListening = `until ss -Hltn sport = :${port} | grep -q .; do sleep 0.05; done`;
  await machine.succeed(['sh', '-c', isListening]);
}
