import type { NginxFile } from '../facts.ts';
import { limitPaths, writeFile } from './own-files.ts';
import type { ProxyOptions } from '../proxy-options.ts';
import { planProxy } from './plan-proxy.ts';
import type { ProxyPlan } from './proxy-plan.ts';
import { renderLimits } from './render.ts';

export const MAIN = `user www-data;
events { worker_connections 768; }
http {
    types { text/html html; }
    include /etc/nginx/conf.d/*.conf;
    include sites-enabled/*;
}
`;
export const SITE = '/etc/nginx/sites-enabled/shop';

export const options: ProxyOptions = {
  domain: 'shop.test',
  proxyPath: '/latchkey',
  mutualTls: false,
  agentPort: 4096,
  viewersPerAddress: 64,
  version: '1.22.1',
  hasIpv6: true,
  needsChallenge: true,
  certificate: '/c.pem',
  certificateKey: '/c.key',
};

/** The zone that counts the connections of each client, where nginx loads `conf.d`. */
export const LIMITS = writeFile(limitPaths[0], renderLimits());
export const HEADER = LIMITS.text.slice(0, LIMITS.text.indexOf('\n') + 1);

/** A host with a main file that loads the others. */
export function host(others: Readonly<Record<string, string>>, main = MAIN): NginxFile[] {
  return Object.entries({ '/etc/nginx/nginx.conf': main, ...others }).map(([path, text]) => ({
    path,
    realPath: path,
    text,
    isWritable: true,
  }));
}

/** TLS settings that need no note. */
export const SOUND_TLS = '    ssl_protocols TLSv1.2 TLSv1.3;\n    ssl_prefer_server_ciphers on;\n';

export function tls(body: string, listen = 'listen 443 ssl;'): string {
  return `server {\n    ${listen}\n    server_name shop.test;\n${body}}\n`;
}

export function plan(files: readonly NginxFile[], changes: Partial<ProxyOptions> = {}): ProxyPlan {
  return planProxy(files, { ...options, ...changes });
}

export function planSite(text: string, changes: Partial<ProxyOptions> = {}): ProxyPlan {
  return plan(host({ [SITE]: text }), changes);
}

export function reasonOf(found: ProxyPlan): string | null {
  return found.kind === 'refused' ? found.reason : null;
}
