/** The steps that are planned on each kind of host, as lines that tests compare. */
import type { HostFacts } from '../facts.ts';
import type { InstallOptions } from '../options.ts';
import type { Step } from '../steps.ts';
import {
  BARE,
  DOMAIN,
  listenOn,
  OVER_HTTP,
  OVER_HTTPS,
  SHOP,
  SITE_PATH,
  withNginx,
} from './hosts.fixture.ts';
import { planInstall } from './plan-install.ts';

const GROUND = [
  'user latchkey-agent',
  'program /usr/lib/latchkey-agent',
  'link /usr/bin/latchkey-agent',
  'directory /etc/latchkey-agent',
  'directory /etc/latchkey-agent/tls',
];
const CHALLENGES = [
  'directory /var/lib/latchkey-agent-challenges',
  'file /var/lib/latchkey-agent-challenges/.well-known/acme-challenge/latchkey-agent',
];
export const SERVICE = [
  'file /etc/systemd/system/latchkey-agent.service',
  'service latchkey-agent.service',
];
export const YAML = 'file /etc/latchkey-agent/agent.yaml';
export const HOOK = 'file /etc/letsencrypt/renewal-hooks/deploy/latchkey-agent';

export const STANDALONE = [
  'packages certbot',
  ...GROUND,
  'certificate standalone',
  `own-certificate /etc/letsencrypt/live/${DOMAIN}/fullchain.pem`,
  YAML,
  ...SERVICE,
  HOOK,
];

export const LIMITS = 'file /etc/nginx/conf.d/latchkey-agent-limits.conf';

const DEDICATED = [
  'packages certbot',
  ...GROUND,
  ...CHALLENGES,
  'file /etc/nginx/sites-enabled/zz-latchkey-agent-challenge.conf',
  'nginx',
  'certificate webroot',
  'own-certificate self-signed',
  YAML,
  ...SERVICE,
  LIMITS,
  'file /etc/nginx/conf.d/latchkey-agent.conf',
  'nginx with its route',
  HOOK,
];

const FROM_HTTP = DEDICATED.flatMap((step) =>
  step.includes('zz-')
    ? ['file /etc/nginx/snippets/latchkey-agent-challenge.conf', `edit ${SITE_PATH}`]
    : [step],
);

export const EXISTING = [
  ...GROUND,
  'own-certificate self-signed',
  YAML,
  ...SERVICE,
  LIMITS,
  'file /etc/nginx/snippets/latchkey-agent.conf',
  `edit ${SITE_PATH}`,
  'nginx with its route',
];

/** The steps of standalone mode beside nginx, which answers the challenges on port 80. */
function standaloneBeside(challenge: readonly string[]): readonly string[] {
  const at = STANDALONE.indexOf('certificate standalone');
  const before = [...STANDALONE.slice(0, at), ...CHALLENGES, ...challenge, 'nginx'];
  return [...before, 'certificate webroot', ...STANDALONE.slice(at + 1)];
}

export const HOSTS: readonly (readonly [
  string,
  HostFacts,
  Record<'auto' | 'proxy' | 'standalone', unknown>,
])[] = [
  [
    'bare Debian',
    BARE,
    {
      auto: STANDALONE,
      standalone: STANDALONE,
      proxy: [
        'Proxy mode needs a reverse proxy, and none is installed: install nginx (apt-get install nginx), or choose standalone mode (--mode standalone).',
      ],
    },
  ],
  [
    'nginx with another site',
    withNginx(SHOP),
    {
      auto: DEDICATED,
      proxy: DEDICATED,
      standalone: standaloneBeside([
        'file /etc/nginx/sites-enabled/zz-latchkey-agent-challenge.conf',
      ]),
    },
  ],
  [
    'nginx with the domain over http',
    withNginx(OVER_HTTP),
    {
      auto: FROM_HTTP,
      proxy: FROM_HTTP,
      standalone: standaloneBeside([
        'file /etc/nginx/snippets/latchkey-agent-challenge.conf',
        `edit ${SITE_PATH}`,
      ]),
    },
  ],
  [
    'nginx with the domain over https',
    withNginx(OVER_HTTPS),
    {
      auto: EXISTING,
      proxy: EXISTING,
      standalone: standaloneBeside(['file /etc/nginx/conf.d/latchkey-agent-challenge.conf']),
    },
  ],
  [
    'Apache on 80',
    { ...BARE, listeners: [listenOn(80, 'apache2')] },
    {
      auto: [
        'Port 80 is used by apache2 (process 780, apache2.service), which this program does not configure.',
      ],
      proxy: [
        'Port 80 is used by apache2 (process 780, apache2.service), which this program does not configure.',
      ],
      standalone: [
        'Port 80, on which the authority validates, is used by apache2 (process 780, apache2.service): stop it (systemctl stop apache2.service) and run this again, or give a certificate of your own with --cert-file and --key-file.',
      ],
    },
  ],
  [
    'Caddy on 443',
    { ...BARE, listeners: [listenOn(443, 'caddy', '::')] },
    {
      auto: [
        'Port 443 is used by caddy (process 1143, caddy.service), which this program does not configure.',
      ],
      proxy: [
        'Port 443 is used by caddy (process 1143, caddy.service), which this program does not configure.',
      ],
      standalone: STANDALONE,
    },
  ],
];

/** Returns the steps of a plan, the reasons of a refusal, or the reason for manual steps. */
export function outline(options: InstallOptions, facts: HostFacts): readonly string[] {
  const plan = planInstall(options, facts);
  if (plan.kind === 'plan') return describe(plan.steps);
  return plan.kind === 'refusal' ? plan.reasons : [plan.reason];
}

export function describe(steps: readonly Step[]): readonly string[] {
  return steps.map((step) => `${step.kind} ${nameSubject(step)}`.trim());
}

function nameSubject(step: Step): string {
  if ('path' in step) return step.path;
  if (step.kind === 'packages') return step.names.join(' ');
  if (step.kind === 'user') return step.name;
  if (step.kind === 'program') return step.to;
  if (step.kind === 'certificate') return step.challenge.kind;
  if (step.kind === 'own-certificate') {
    return step.source.kind === 'files' ? step.source.certificate : step.source.kind;
  }
  if (step.kind === 'authority')
    return step.withProxyCertificate ? "with the proxy's certificate" : '';
  if (step.kind === 'nginx') return step.probesRoute ? 'with its route' : '';
  return step.kind === 'service' ? step.unit : `${step.port}`;
}
