import type { HostFacts, NginxFile } from '../facts.ts';
import type { Challenge } from '../nginx/plan-dedicated.ts';
import { findIncludes, keepIncludes } from '../nginx/includes.ts';
import type { ProxyOptions } from '../proxy-options.ts';
import { findDirectory } from '../nginx/read-configuration.ts';
import type { InstallOptions } from '../options.ts';
import { challengeProbe, paths } from '../paths.ts';
import type { EditStep, FileStep, Step } from '../steps.ts';
import { findAgentPort } from './plan-settings.ts';
import type { CertificatePlan } from './plan-certificate.ts';

/** The agent's default limit. */
const VIEWERS_PER_ADDRESS = 64;

export function describeProxy(
  options: InstallOptions,
  facts: HostFacts,
  {
    certificate,
    key,
    needsChallenge,
  }: Pick<CertificatePlan, 'certificate' | 'key' | 'needsChallenge'>,
): ProxyOptions {
  const { domain, proxyPath, mutualTls } = options;
  const { hasIpv6, nginx, configured } = facts;
  const agentPort = findAgentPort(options, 'proxy', facts);
  const viewersPerAddress = configured?.viewersPerAddress ?? VIEWERS_PER_ADDRESS;
  const route = { domain, proxyPath, mutualTls, agentPort, viewersPerAddress };
  const version = nginx?.version ?? '';
  return { ...route, version, hasIpv6, needsChallenge, certificate, certificateKey: key };
}

/** Returns the certificate that a server block of the agent would present, before it is known whether one is needed. */
export function guessCertificate(
  { certificateFiles, domain }: InstallOptions,
  { certificate: kept }: HostFacts,
): Pick<CertificatePlan, 'certificate' | 'key' | 'needsChallenge'> {
  if (certificateFiles !== null) return { ...certificateFiles, needsChallenge: false };
  const directory = kept?.directory ?? `/etc/letsencrypt/live/${domain}`;
  const files = { certificate: `${directory}/fullchain.pem`, key: `${directory}/privkey.pem` };
  return { ...files, needsChallenge: kept === null };
}

const PROBE: FileStep = {
  kind: 'file',
  path: challengeProbe.path,
  text: challengeProbe.text,
  mode: 0o644,
  group: 'root',
  keepsExisting: false,
};

/** Returns the steps by which nginx answers challenges from the agent's directory; none where no challenge is expected. */
export function listChallengeSteps(
  challenge: Challenge,
  files: readonly NginxFile[],
): readonly Step[] {
  const isNeeded = challenge.files.length + challenge.edits.length > 0;
  if (!isNeeded) return [];
  return [
    { kind: 'directory', path: paths.challenges, mode: 0o755, group: 'root' },
    PROBE,
    ...challenge.files,
    ...listEdits(challenge.files, challenge.edits, files),
    { kind: 'nginx', probesRoute: false },
  ];
}

/**
 * Returns the edits that include the agent's snippets, even those of an earlier installation: steps that a plan does not contain are
 * undone.
 * @param snippets the agent's files, of which an edit may include one
 */
export function listEdits(
  snippets: readonly FileStep[],
  edits: readonly EditStep[],
  files: readonly NginxFile[],
): readonly EditStep[] {
  if (edits.length > 0) return edits;
  const places = snippets.map(({ path }) => path);
  const directory = findDirectory(files);
  const edited = files.filter(({ text }) => findIncludes(text, places, directory).length > 0);
  const once = new Map(edited.map((file) => [file.realPath, file]));
  return Array.from(once.values(), ({ path, text }) => ({
    kind: 'edit',
    path,
    before: text,
    after: keepIncludes(text, directory, places),
  }));
}
