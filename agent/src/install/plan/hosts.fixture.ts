import type {
  CertificateFacts,
  ConfiguredFacts,
  HostFacts,
  InstalledFacts,
  Listener,
  NginxFacts,
  NginxFile,
} from '../facts.ts';
import type { InstallOptions } from '../options.ts';
import type { Plan } from './plan.ts';

export const DOMAIN = 'monitor.example.com';

export const OPTIONS: InstallOptions = {
  domain: DOMAIN,
  email: 'ops@example.com',
  mode: 'auto',
  forcesStandalone: false,
  proxyPath: '/latchkey',
  proxyByHand: false,
  mutualTls: false,
  acmeServer: null,
  certificateFiles: null,
  scrapeIntervalSeconds: null,
  allowedOrigins: null,
  opensFirewall: false,
  skipsDnsCheck: false,
  allowsDowngrade: false,
};

/** Returns the facts of an earlier installation with default options. */
export function installedIn(mode: InstalledFacts['mode']): InstalledFacts {
  return {
    version: '1.0.0',
    mode,
    domain: DOMAIN,
    proxyPath: '/latchkey',
    mutualTls: false,
    proxyByHand: false,
    certificateFiles: null,
    skipsDnsCheck: false,
  };
}

/** A fresh Debian on the internet, with a domain. */
export const BARE: HostFacts = {
  isRoot: true,
  hasSystemd: true,
  hasApt: true,
  hasCertbot: false,
  hasOpenssl: true,
  smartctl: null,
  nvidiaModprobe: null,
  packageDirectory: '/opt/latchkey-agent',
  distribution: { id: 'debian', versionId: '12', name: 'Debian GNU/Linux 12 (bookworm)' },
  hasIpv6: true,
  listeners: [],
  nginx: null,
  firewall: 'none',
  isPort80Refused: false,
  selinux: null,
  addresses: ['203.0.113.7'],
  domainAddresses: ['203.0.113.7'],
  resolverFault: null,
  certificate: null,
  certificateUses: [],
  challenged: [],
  givenCertificateFault: null,
  installed: null,
  configured: null,
  faults: [],
};

export function listenOn(port: number, name: string, address = '0.0.0.0'): Listener {
  return { port, address, process: { pid: 700 + port, name, unit: `${name}.service` } };
}

export const MAIN_FILE: NginxFile = {
  path: '/etc/nginx/nginx.conf',
  realPath: '/etc/nginx/nginx.conf',
  text: 'events {}\nhttp {\n    include /etc/nginx/conf.d/*.conf;\n    include /etc/nginx/sites-enabled/*;\n}\n',
  isWritable: true,
};

export const SHOP: NginxFile = {
  path: '/etc/nginx/sites-enabled/shop',
  realPath: '/etc/nginx/sites-available/shop',
  text: 'server {\n    listen 80;\n    server_name shop.example.com;\n}\n',
  isWritable: true,
};

export const SITE_PATH = '/etc/nginx/sites-enabled/site';

/** A file with the domain's own blocks. */
export function writeSite(text: string): NginxFile {
  return { path: SITE_PATH, realPath: '/etc/nginx/sites-available/site', text, isWritable: true };
}

export const OVER_HTTP = writeSite(
  `server {\n    listen 80;\n    server_name ${DOMAIN};\n    root /var/www/html;\n}\n`,
);

export const OVER_HTTPS = writeSite(
  `server {\n    listen 443 ssl;\n    server_name ${DOMAIN};\n    ssl_certificate /etc/ssl/a.pem;\n    ssl_certificate_key /etc/ssl/a.key;\n    root /var/www/html;\n}\n`,
);

export function runNginx(...files: readonly NginxFile[]): NginxFacts {
  return {
    version: '1.22.1',
    isRunning: true,
    files: [MAIN_FILE, ...files],
    warnings: [],
    fault: null,
    foreign: null,
  };
}

/** A machine with nginx on port 80, and 443 where a site has TLS. */
export function withNginx(...files: readonly NginxFile[]): HostFacts {
  const ports = files.some(({ text }) => text.includes('ssl')) ? [80, 443] : [80];
  const listeners = ports.map((port) => listenOn(port, 'nginx'));
  return { ...BARE, listeners, nginx: runNginx(...files) };
}

/** A certificate of certbot for the domain, with its renewal method. */
export function keep(authenticator: string, webroots: readonly string[] = []): CertificateFacts {
  return {
    name: DOMAIN,
    directory: `/etc/letsencrypt/live/${DOMAIN}`,
    expiresAt: new Date('2027-01-01T00:00:00Z'),
    isExpired: false,
    authenticator,
    webroots,
  };
}

/** An agent's configuration with these settings and this address. */
export function configure(
  settings: Readonly<Record<string, unknown>> = {},
  listen: Partial<ConfiguredFacts> = {},
): ConfiguredFacts {
  const { host = '0.0.0.0', port = 4096, intervalSeconds = 1, viewersPerAddress = 64 } = listen;
  const named = { listen: host.includes(':') ? `[${host}]:${port}` : `${host}:${port}` };
  const all = { ...named, interval_seconds: intervalSeconds, ...settings };
  return { host, port, intervalSeconds, viewersPerAddress, settings: new Map(Object.entries(all)) };
}

/** Returns the facts of the machine after a plan is applied. */
export function applyToFacts(plan: Plan, facts: HostFacts): HostFacts {
  const issued = plan.steps.find(({ kind }) => kind === 'certificate');
  const isWebroot = issued?.kind === 'certificate' && issued.challenge.kind === 'webroot';
  const webroots = isWebroot ? ['/var/lib/latchkey-agent-challenges'] : [];
  const certificate =
    issued === undefined ? null : keep(isWebroot ? 'webroot' : 'standalone', webroots);
  const address = plan.mode === 'proxy' ? '127.0.0.1' : '0.0.0.0';
  const process = { pid: 99, name: 'node', unit: 'latchkey-agent.service' };
  const listeners = [...facts.listeners, { port: 4096, address, process }];
  const done = {
    ...facts,
    hasCertbot: issued !== undefined,
    certificate,
    listeners,
    installed: plan.installed,
  };
  return facts.nginx === null
    ? done
    : { ...done, nginx: { ...facts.nginx, files: listFiles(plan, facts.nginx.files) } };
}

function listFiles({ steps }: Plan, files: NonNullable<HostFacts['nginx']>['files']) {
  const changed = files.map((file) => {
    const edit = steps.find((step) => step.kind === 'edit' && step.path === file.path);
    return edit?.kind === 'edit' ? { ...file, text: edit.after } : file;
  });
  const added = steps.flatMap((step) =>
    step.kind === 'file' && step.path.startsWith('/etc/nginx/')
      ? [{ path: step.path, realPath: step.path, text: step.text, isWritable: true }]
      : [],
  );
  return [...changed, ...added];
}
