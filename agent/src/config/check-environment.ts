import { createServer, isIP } from 'node:net';
import { once } from 'node:events';

import { codeOf, messageOf } from '../errors.ts';
import { checkAgentHealth } from '../service/client.ts';
import { readTlsMaterial, type TlsMaterial } from '../tls/tls-files.ts';
import { type AgentConfig, explainListenError, readTokens } from './config.ts';

const DAY_MS = 86_400_000;

/** Certificates are renewed a month before they expire, so that a renewal failed when less is left. */
const EXPIRY_WARNING_DAYS = 14;

/** Lower ports need root or a capability (net.ipv4.ip_unprivileged_port_start). */
const FIRST_UNPRIVILEGED_PORT = 1024;

/** Identifies a problem for the doctor; the message is for people. */
export type ProblemCode =
  | 'authority_expired'
  | 'certificate_expired'
  | 'certificate_expiring'
  | 'certificate_name_mismatch'
  | 'certificate_not_yet_valid'
  | 'file_unusable'
  | 'port_privileged'
  | 'port_unusable'
  | 'revocations_outdated'
  | 'viewers_unrestricted';

export interface EnvironmentProblem {
  readonly code: ProblemCode;
  /** A sentence with the fix. */
  readonly message: string;
}

/** Problems and warnings of a valid configuration on this machine. */
export interface Findings {
  /** The agent would not start, or no viewer could connect. */
  readonly problems: EnvironmentProblem[];
  /** The agent would start, and the administrator should act. */
  readonly warnings: EnvironmentProblem[];
}

/** Checks the files, certificates and port of a configuration on this machine. */
export async function checkEnvironment(config: AgentConfig, now: Date): Promise<Findings> {
  const findings: Findings = { problems: [], warnings: [] };
  const tls = collectProblem(findings, () => readTlsMaterial(config.tls));
  if (tls !== null) checkCertificates(findings, config, tls, now);
  const tokens = collectProblem(findings, () => readTokens(config.tokensFile));
  if (config.tls.clients === null && tokens?.length === 0) {
    findings.warnings.push({
      code: 'viewers_unrestricted',
      message:
        'Anyone who reaches the port may watch: set viewers.certificates or viewers.tokens_file.',
    });
  }
  const message = await findPortProblem(config);
  if (message !== null) findings.problems.push({ code: 'port_unusable', message });
  else if (config.listen.port < FIRST_UNPRIVILEGED_PORT && process.geteuid?.() === 0) {
    const { port } = config.listen;
    findings.warnings.push({
      code: 'port_privileged',
      message: `Port ${port} needs root, and the service does not run as root: choose a port from 1024, or grant CAP_NET_BIND_SERVICE.`,
    });
  }
  return findings;
}

function checkCertificates(
  { problems, warnings }: Findings,
  { tls: paths, serverName }: AgentConfig,
  { certificate, clients }: TlsMaterial,
  now: Date,
): void {
  const { certificateFile } = paths;
  const daysLeft = Math.floor((certificate.validToDate.getTime() - now.getTime()) / DAY_MS);
  const until = certificate.validToDate.toISOString();
  if (daysLeft < 0) {
    const message = `${certificateFile} expired on ${until}: renew it.`;
    problems.push({ code: 'certificate_expired', message });
  } else if (daysLeft < EXPIRY_WARNING_DAYS) {
    const message = `${certificateFile} expires on ${until}, in ${daysLeft} days: renew it.`;
    warnings.push({ code: 'certificate_expiring', message });
  }
  if (certificate.validFromDate > now) {
    const message = `${certificateFile} is not valid yet.`;
    problems.push({ code: 'certificate_not_yet_valid', message });
  }
  if (serverName !== null && !isFor(certificate, serverName)) {
    const names = certificate.subjectAltName ?? 'no name';
    const what = `${certificateFile} is not for ${serverName} (it is for ${names})`;
    const message = `${what}: get one that is, or correct tls.server_name.`;
    problems.push({ code: 'certificate_name_mismatch', message });
  }
  if (clients !== null) checkAuthorities({ problems, warnings }, paths, clients.authorities, now);
  const nextUpdate = clients?.revocations.nextUpdate ?? null;
  if (nextUpdate !== null && nextUpdate < now) {
    const file = paths.clients?.revocationFile ?? '';
    const what = `${file} has been out of date since ${nextUpdate.toISOString()}, and all viewers are rejected`;
    const message = `${what}: renew it, as latchkey-agent client-cert refresh-list does.`;
    problems.push({ code: 'revocations_outdated', message });
  }
}

/** One expired authority of several is a warning; without a valid one, all certificates are rejected. */
function checkAuthorities(
  { problems, warnings }: Findings,
  { clients }: AgentConfig['tls'],
  authorities: NonNullable<TlsMaterial['clients']>['authorities'],
  now: Date,
): void {
  const expired = authorities.filter(({ validToDate }) => validToDate < now);
  const found = expired.length === authorities.length ? problems : warnings;
  for (const { subject, validToDate } of expired) {
    const name = subject.replaceAll('\n', ', ');
    found.push({
      code: 'authority_expired',
      message: `${clients?.authorityFile} contains an authority (${name}) that expired on ${validToDate.toISOString()}: its certificates are rejected.`,
    });
  }
}

function isFor(certificate: TlsMaterial['certificate'], name: string): boolean {
  const found = isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name);
  return found !== undefined;
}

/** Returns null when the port is free or the agent itself uses it. */
async function findPortProblem(config: AgentConfig): Promise<string | null> {
  const { host, port } = config.listen;
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    return null;
  } catch (error) {
    const isInUse = codeOf(error) === 'EADDRINUSE';
    if (isInUse && (await checkAgentHealth(config)) === null) return null;
    const why = messageOf(error);
    return (
      explainListenError(error, config.listen) ??
      `The agent cannot listen on ${host}:${port}: ${why}.`
    );
  } finally {
    server.close();
  }
}

function collectProblem<T>({ problems }: Findings, read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    const message = messageOf(error);
    problems.push({ code: 'file_unusable', message });
    return null;
  }
}
