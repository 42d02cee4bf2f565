/** The web servers of a machine before an installation. */
import { sendRequest, type TestResponse } from './request.ts';
import type { Machine } from './machine.ts';

/** The domain of every installation. */
export const DOMAIN = 'watched.example.test';

export type WebServer =
  | 'no web server'
  | 'nginx with another site'
  | 'nginx with the domain over http'
  | 'nginx with the domain over https'
  | 'Apache on 80';

export const WEB_SERVERS: readonly WebServer[] = [
  'no web server',
  'nginx with another site',
  'nginx with the domain over http',
  'nginx with the domain over https',
  'Apache on 80',
];

/** The address of the owner's page; null on a machine without a web server. */
const OWN_PAGES: Record<WebServer, string> = {
  'no web server': `http://${DOMAIN}/`,
  'nginx with another site': 'http://other.example.test/',
  'nginx with the domain over http': `http://${DOMAIN}/`,
  'nginx with the domain over https': `https://${DOMAIN}/`,
  'Apache on 80': `http://${DOMAIN}/`,
};

/** The page that the machine's owner had before. */
export const OWN_PAGE = 'the page of before\n';

const OTHER_SITE = `
# A site that has nothing to do with it; { braces } and "quotes" in a comment.
server {
    listen 80;
    listen [::]:80;
    server_name other.example.test;
    root /var/www/own;
}
`;

const DOMAIN_OVER_HTTP = `
server {
\tlisten 80;
\tlisten [::]:80;
\tserver_name ${DOMAIN} www.${DOMAIN}; # two names
\troot /var/www/own;
}
`;

const DOMAIN_OVER_HTTPS = `
server {
    listen 80;
    listen [::]:80;
    server_name ${DOMAIN};
    return 301 https://$host$request_uri;
}

server {
    listen 443 ssl;
    listen [::]:443 ssl;
    server_name ${DOMAIN};
    ssl_certificate     /etc/ssl/own/own.pem;
    ssl_certificate_key /etc/ssl/own/own.key;
    root /var/www/own;
    location ~ \\.php$ { return 403 "}"; }
}
`;

/** Signed by an authority of the owner, which an installation could not have installed. */
export const CREATE_OWN_CERTIFICATE = `
set -e
mkdir -p /etc/ssl/own; cd /etc/ssl/own
new_key='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'
openssl req -x509 $new_key -days 30 -subj '/CN=authority of the owner' -keyout ca.key -out ca.pem
openssl req $new_key -subj /CN=${DOMAIN} -keyout own.key -out own.csr
printf 'subjectAltName=DNS:${DOMAIN}\\nextendedKeyUsage=serverAuth' >own.ext
openssl x509 -req -in own.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile own.ext -out own.pem
`;

/** The root of the owner's certificate, on machines that serve the domain over https already. */
export const OWN_ROOT = '/etc/ssl/own/ca.pem';

/** Requests the page that the machine's owner had before. */
export function requestOwnPage(machine: Machine, webServer: WebServer): Promise<TestResponse> {
  const page = OWN_PAGES[webServer];
  return sendRequest(
    machine.sandbox,
    page,
    page.startsWith('https:') ? { ca: machine.read(OWN_ROOT) } : {},
  );
}

/** Configures and starts a web server. */
export async function prepare(machine: Machine, webServer: WebServer): Promise<void> {
  machine.write('/var/www/own/index.html', OWN_PAGE);
  switch (webServer) {
    case 'no web server':
      return;
    case 'nginx with another site':
      return startNginx(machine, OTHER_SITE);
    case 'nginx with the domain over http':
      return startNginx(machine, DOMAIN_OVER_HTTP);
    case 'nginx with the domain over https':
      await machine.succeed(['sh', '-c', CREATE_OWN_CERTIFICATE]);
      return startNginx(machine, DOMAIN_OVER_HTTPS);
    case 'Apache on 80':
      machine.write('/var/www/html/index.html', OWN_PAGE);
      await machine.succeed(['systemctl', 'enable', '--now', 'apache2.service']);
  }
}

/** As on Debian: a file in sites-available, and a link in sites-enabled. */
async function startNginx(machine: Machine, site: string): Promise<void> {
  machine.write('/etc/nginx/sites-available/own', site);
  await machine.succeed(['ln', '-s', '../sites-available/own', '/etc/nginx/sites-enabled/own']);
  await machine.succeed(['systemctl', 'enable', '--now', 'nginx.service']);
}
