/** Failures of an installation: the installer explains each, and leaves the machine as it was. */
import { setAddress } from './acme.ts';
import type { Installation } from './installation.ts';
import type { Packages } from './packages.ts';
import { DOMAIN, type WebServer } from './web-servers.ts';

interface Hardship {
  readonly name: string;
  readonly webServer: WebServer;
  /** Variables with wrong values. */
  readonly args?: readonly string[];
  /** A variable that is left out. */
  readonly without?: string;
  readonly arrange?: (installation: Installation, packages: Packages) => Promise<unknown>;
  /** Of the installer. */
  readonly code: number;
  readonly says: RegExp;
}

/** Fills the disk but for 8 MB; the machine can still read its own files. */
const FILL_DISK = `mkdir /mnt/full && mount -t tmpfs -o size=8m tmpfs /mnt/full && cd /mnt/full && mkdir upper work &&
mount -t overlay overlay -o lowerdir=/usr/lib,upperdir=upper,workdir=work /usr/lib`;

/** Debian's nginx with another main file, whose includes are relative to it. */
const START_FROM_COPY = `cp -a /etc/nginx /srv/nginx; systemctl stop nginx; nginx -c /srv/nginx/nginx.conf`;

export const HARDSHIPS: readonly Hardship[] = [
  {
    name: 'the domain is none',
    webServer: 'no web server',
    args: ['--domain', 'not_a_domain'],
    code: 78,
    says: /--domain.*monitor\.example\.com/,
  },
  {
    name: 'the mode is none',
    webServer: 'no web server',
    args: ['--mode', 'sideways'],
    code: 78,
    says: /--mode.*standalone/,
  },
  {
    name: 'there is no e-mail address',
    webServer: 'no web server',
    without: 'LATCHKEY_EMAIL',
    code: 78,
    says: /e-mail address .* --email or LATCHKEY_EMAIL/,
  },
  {
    name: 'the certificate that is given is not there',
    webServer: 'no web server',
    args: ['--cert-file', '/root/none.pem', '--key-file', '/root/none.key'],
    code: 1,
    says: /there is no file \/root\/none\.pem\./,
  },
  {
    name: 'port 4096 is taken',
    webServer: 'no web server',
    arrange: (installation, packages) => occupy(installation, packages, 4096),
    code: 1,
    says: /4096.*\bnode\b/,
  },
  {
    name: 'port 80 is taken by a program that is no web server known',
    webServer: 'no web server',
    arrange: (installation, packages) => occupy(installation, packages, 80),
    code: 3,
    says: /\b80\b.*\bnode\b/,
  },
  {
    name: 'the domain leads elsewhere',
    webServer: 'no web server',
    arrange: ({ machine }) => setAddress(machine.place, DOMAIN, '203.0.113.99'),
    code: 1,
    says: /203\.0\.113\.99/,
  },
  {
    name: 'the name server is not there',
    webServer: 'no web server',
    arrange: async ({ machine }) => machine.write('/etc/resolv.conf', 'nameserver 127.0.0.1\n'),
    code: 1,
    says: /^✗ The name servers .* do not answer for watched\.example\.test \(ECONNREFUSED\)/m,
  },
  {
    name: 'nginx refuses its configuration',
    webServer: 'nginx with the domain over https',
    arrange: async ({ machine }) =>
      machine.write('/etc/nginx/conf.d/broken.conf', 'server { listen 8080 \n'),
    code: 1,
    says: /broken\.conf/,
  },
  {
    name: 'nginx reads another main file',
    webServer: 'nginx with another site',
    arrange: ({ machine }) => machine.succeed(['sh', '-ec', START_FROM_COPY]),
    code: 3,
    says: /-c \/srv\/nginx\/nginx\.conf\) reads \/srv\/nginx\/nginx\.conf, .*--proxy-by-hand/s,
  },
  {
    name: 'ufw refuses port 80',
    webServer: 'no web server',
    arrange: ({ machine }) => machine.succeed(['ufw', '--force', 'enable']),
    code: 1,
    says: /^✗ ufw refuses port 80, .*--open-firewall/m,
  },
  {
    name: 'the disk can only be read',
    webServer: 'no web server',
    arrange: ({ machine }) =>
      machine.succeed(['sh', '-c', 'mount --bind /etc /etc && mount -o remount,ro,bind /etc']),
    code: 1,
    says: /^✗ \/etc is on a file system that can only be read: make it writable/m,
  },
  {
    name: 'the disk is full',
    webServer: 'no web server',
    // The program is installed as a whole, in files of many megabytes.
    arrange: ({ machine }) => machine.succeed(['sh', '-c', FILL_DISK]),
    code: 1,
    says: /^✗ The disk is full: free some space and run this again/m,
  },
  {
    name: 'the authority is not reached',
    webServer: 'nginx with another site',
    arrange: ({ machine }) => machine.place.succeed(['pkill', '-x', 'pebble']),
    code: 1,
    says: /certificate|certbot/i,
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
  const isThere = `until ss -Hltn sport = :${port} | grep -q .; do sleep 0.05; done`;
  await machine.succeed(['sh', '-c', isThere]);
}
