import assert from 'node:assert/strict';

import type { CertificateFacts, InstalledFacts } from '../install/facts.ts';
import { type CheckName, type Fault } from './finding.ts';
import { examine } from './examine.ts';
import type { Answer, ConfigurationStatus, Inspection } from './inspect/inspection.ts';

export const now = new Date('2027-03-01T12:00:00Z');
export const inDays = (days: number): Date => new Date(now.getTime() + days * 86_400_000);

export const agentProcess = { pid: 812, name: 'latchkey-agent', unit: 'latchkey-agent.service' };
export const nginxProcess = { pid: 77, name: 'nginx', unit: 'nginx.service' };

export const renewal: CertificateFacts = {
  name: 'm.example.com',
  directory: '/etc/letsencrypt/live/m.example.com',
  expiresAt: inDays(60),
  isExpired: false,
  authenticator: 'standalone',
  webroots: [],
};

export function configuration(
  host: string,
  changes: Partial<Extract<ConfigurationStatus, { kind: 'read' }>> = {},
  port = 4096,
): ConfigurationStatus {
  return {
    kind: 'read',
    path: '/etc/latchkey-agent/agent.yaml',
    config: {
      listen: { host, port },
      intervalSeconds: 1,
      tls: { certificateFile: '/etc/a/cert.pem', keyFile: '/etc/a/key.pem', clients: null },
      serverName: 'm.example.com',
      refusesInHandshake: false,
      tokensFile: '/etc/a/tokens',
      allowedOrigins: new Set(),
      controlSocket: null,
      maxConnections: 2000,
      maxConnectionsPerAddress: 64,
    },
    findings: { problems: [], warnings: [] },
    unreadable: [],
    ...changes,
  };
}

const installed: InstalledFacts = {
  version: '1.0.0',
  mode: 'standalone',
  domain: 'm.example.com',
  proxyPath: '/latchkey',
  mutualTls: false,
  proxyByHand: false,
  certificateFiles: null,
  skipsDnsCheck: false,
};

/** A machine without problems in standalone mode. */
export const standalone: Inspection = {
  now,
  isRoot: true,
  installed,
  configuration: configuration('0.0.0.0'),
  unit: { isLoaded: true, activeState: 'active', result: 'success', isEnabled: true },
  listeners: [{ port: 4096, address: '0.0.0.0', process: agentProcess }],
  agentFault: null,
  domain: {
    name: 'm.example.com',
    addresses: ['203.0.113.7'],
    resolverFault: null,
    ownAddresses: ['203.0.113.7'],
  },
  nginx: null,
  proxy: null,
  origins: [],
  firewall: { tool: 'ufw', openPorts: [22, 80, 4096] },
  selinux: null,
  renewal,
  challenges: [],
  isCertificateOutdated: false,
  revocations: null,
  isClockSynchronized: true,
};

export const answer = (status: number, body = '', isRefusedByAgent = false): Answer => ({
  status,
  body,
  isRefusedByAgent,
});

/** A machine without problems behind nginx, with mutual TLS. */
export const proxied: Inspection = {
  ...standalone,
  installed: { ...installed, mode: 'proxy', mutualTls: true },
  configuration: configuration('127.0.0.1'),
  listeners: [
    { port: 80, address: '0.0.0.0', process: nginxProcess },
    { port: 443, address: '0.0.0.0', process: nginxProcess },
    { port: 4096, address: '127.0.0.1', process: agentProcess },
  ],
  nginx: {
    version: '1.22.1',
    isRunning: true,
    files: [],
    warnings: [],
    fault: null,
    foreign: null,
  },
  proxy: {
    health: answer(200, 'OK\n'),
    route: answer(496, 'client certificate required\n'),
    routeWithCertificate: answer(200),
  },
  firewall: { tool: 'ufw', openPorts: [80, 443] },
  renewal: { ...renewal, authenticator: 'webroot' },
  revocations: { path: '/etc/a/crl.pem', nextUpdate: inDays(390), isTimerActive: true },
};

export function listFaults(inspection: Inspection): Fault[] {
  return examine(inspection).filter((each) => 'cause' in each);
}

/** Asserts that an inspection has exactly one fault. */
export function assertOnly(
  inspection: Inspection,
  check: CheckName,
  state: Fault['state'],
  cause: string,
  fix: RegExp,
): void {
  const faults = listFaults(inspection);
  assert.deepEqual(
    faults.map((each) => [each.check, each.state, each.cause]),
    [[check, state, cause]],
  );
  assert.match(faults[0]?.fix ?? '', fix);
}
