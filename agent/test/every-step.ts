/** A package of the agent, and a plan with one step of each kind. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { agentUser, paths } from '#agent/install/paths.ts';
import type { Step } from '#agent/install/steps.ts';

import { OTHER_SITE } from './fake-host.ts';

/** Returns one step of each kind, in an order in which they can be applied. */
export function listEveryStep(packageFolder: string): Step[] {
  const domain = 'monitor.example.test';
  const root = { group: 'root', mode: 0o644 };
  const line = `  include ${paths.nginxRoute}; # latchkey-agent\n`;
  return [
    { kind: 'packages', names: ['certbot'] },
    { kind: 'user', name: agentUser },
    { kind: 'program', from: packageFolder, to: paths.program },
    { kind: 'link', path: paths.command, target: `${paths.program}/bin/latchkey-agent` },
    { kind: 'directory', path: '/etc/latchkey-agent', mode: 0o750, group: agentUser },
    {
      kind: 'file',
      path: paths.configuration,
      text: 'listen: 0.0.0.0:4096\n',
      keepsExisting: true,
      ...root,
    },
    {
      kind: 'file',
      path: paths.renewalHook,
      text: '#!/bin/sh\n',
      keepsExisting: false,
      mode: 0o755,
      group: 'root',
    },
    {
      kind: 'certificate',
      domain,
      email: 'operations@example.test',
      acmeServer: null,
      challenge: { kind: 'standalone' },
    },
    { kind: 'own-certificate', domain, source: { kind: 'self-signed' } },
    { kind: 'authority', domain, withProxyCertificate: true },
    {
      kind: 'file',
      path: paths.nginxRoute,
      text: 'location = /latchkey {}\n',
      keepsExisting: false,
      ...root,
    },
    {
      kind: 'edit',
      path: '/etc/nginx/sites-enabled/other',
      before: OTHER_SITE,
      after: OTHER_SITE.replace('}', `${line}}`),
    },
    { kind: 'nginx', probesRoute: true },
    { kind: 'file', path: paths.unit, text: '[Service]\n', keepsExisting: false, ...root },
    { kind: 'service', unit: 'latchkey-agent.service' },
    { kind: 'firewall', tool: 'ufw', port: 4096 },
  ];
}

/** Creates an unpacked package of a version. */
export function createPackage(folder: string, version: string): string {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'bin', 'latchkey-agent'), `#!/bin/sh\necho ${version}\n`, {
    mode: 0o755,
  });
  writeFileSync(join(folder, 'README.txt'), version);
  return folder;
}
