// Certificates that certbot obtains.
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { ProgramResult } from '../../../system/run-program.ts';
import { paths } from '../../paths.ts';
import type { CertificateStep } from '../../steps.ts';
import {
  ACCOUNTS,
  archivePath,
  findAccount,
  isIssuedWithin,
  lineagePath,
  listTraces,
  readRenewalField,
  removeTraces,
  renewalPath,
} from '../certbot.ts';
import { lastLines, locate, type Machine, ProgramError } from '../machine.ts';
import { captureTree, lstatOrNull, restore } from '../path-state.ts';
import type { Entry } from '../journal-entry.ts';
import { type StepContext, type StepKind, waitUntil } from '../step-kind.ts';

/** The authority validates from several places, and certbot waits for it. */
const CERTBOT_TIMEOUT_MS = 300_000;
const PAUSE_MS = 500;

export const certificate: StepKind<CertificateStep> = {
  // A certificate of another domain could not be renewed, unless another program uses it.
  isWanted: ({ subject: { domain = '' } }, _names, { services }) =>
    services.keepsCertificate(domain),
  describe: ({ domain, challenge }) => `Obtain a certificate for ${domain} (${challenge.kind})`,
  findSubject: ({ domain }) => ({ domain }),

  async isSatisfied({ domain, challenge }, context) {
    const issued = readCertificate(context, domain);
    if (issued === null || issued.validToDate <= context.services.now()) return false;
    // With the other authenticator, renewals would fail, because the use of port 80 has changed.
    const other = challenge.kind === 'standalone' ? 'webroot' : 'standalone';
    return readRenewalField(context, domain, 'authenticator') !== other;
  },

  async capture({ domain = '' }, context) {
    const existing = [lineagePath(domain), archivePath(domain), ACCOUNTS].filter(
      (path) => lstatOrNull(locate(context, path)) !== null,
    );
    const states = [renewalPath(domain), ...existing].flatMap((path) => captureTree(context, path));
    const startedAt = [context.services.now().toISOString()];
    return { paths: states, facts: { traces: listTraces(context), startedAt } };
  },

  async apply(step, context, before) {
    const { domain, challenge } = step;
    // The authority limits failed validations per hour.
    const { checkChallenge } = context.services;
    const problem = challenge.kind === 'webroot' ? await checkChallenge(domain) : null;
    if (problem !== null) throw new Error(problem);
    const force = readCertificate(context, domain) === null ? [] : ['--force-renewal'];
    const args = [...listArguments(step), ...force];
    const result = await context.runProgram('certbot', args, { timeoutMs: CERTBOT_TIMEOUT_MS });
    if (result.code !== 0) {
      throw new Error([explainCertbot(result, domain), ...lastLines(result)].join('\n  '));
    }
    await runHook(domain, context);
    context.changed.add(lineagePath(domain));
    const account = findAccount(context, domain);
    const isNew = account !== null && before.facts['traces']?.includes(account) !== true;
    return { added: isNew ? [account] : [] };
  },

  async undo(entry, context) {
    const [renewal, ...others] = entry.before.paths;
    if (entry.after === null) await waitForCertbot(context);
    if (renewal?.type === 'file') {
      const missing = others.filter(({ path }) => lstatOrNull(locate(context, path)) === null);
      for (const state of [...missing, renewal]) restore(context, state);
    } else await removeLineage(entry, context);
  },

  describeUndo: ({ subject }) => `Delete the certificate ${subject['domain']} (certbot)`,
};

function listArguments({ domain, email, acmeServer, challenge }: CertificateStep): string[] {
  const method =
    challenge.kind === 'standalone'
      ? ['--standalone']
      : ['--webroot', '--webroot-path', challenge.directory];
  const account = ['--non-interactive', '--agree-tos', '--email', email, '--no-eff-email'];
  const lineage = ['--domain', domain, '--cert-name', domain, '--key-type', 'ecdsa'];
  const server = acmeServer === null ? [] : ['--server', acmeServer];
  return ['certonly', ...method, ...account, ...lineage, ...server];
}

/** Runs the deploy hook, because certbot before version 5.3 runs it only at renewals. */
async function runHook(domain: string, context: StepContext): Promise<void> {
  if (!existsSync(locate(context, paths.renewalHook))) return;
  const environment = { RENEWED_LINEAGE: lineagePath(domain), RENEWED_DOMAINS: domain };
  const result = await context.runProgram(paths.renewalHook, [], { environment });
  if (result.code !== 0) throw new ProgramError('The certificate could not be deployed:', result);
}

/** Waits for a certbot that outlived its installer, and would recreate removed files. */
async function waitForCertbot(context: StepContext): Promise<void> {
  const hasEnded = async () => {
    const { stdout, stderr } = await context.runProgram('certbot', ['certificates']);
    return !/Another instance of Certbot/iu.test(stdout + stderr);
  };
  await waitUntil(context, hasEnded, { timeoutMs: CERTBOT_TIMEOUT_MS, pauseMs: PAUSE_MS });
}

async function removeLineage(
  { subject: { domain = '' }, before, after }: Entry,
  context: StepContext,
): Promise<void> {
  const startedAt = new Date(before.facts['startedAt']?.[0] ?? 0);
  if (after === null && !isIssuedWithin(context, domain, startedAt)) {
    context.report(
      `The certificate ${domain} is kept, because it was requested after the interrupted installation.`,
    );
    return;
  }
  if (existsSync(locate(context, renewalPath(domain)))) {
    const args = ['delete', '--non-interactive', '--cert-name', domain];
    await context.runProgram('certbot', args);
  }
  // certbot does not delete a certificate whose creation was interrupted.
  for (const path of [lineagePath(domain), archivePath(domain), renewalPath(domain)]) {
    rmSync(locate(context, path), { recursive: true, force: true });
  }
  removeTraces(context, {
    earlier: before.facts['traces'] ?? [],
    accounts: after?.['added'] ?? [],
    interruptedAt: after === null ? startedAt : null,
  });
}

function readCertificate(machine: Machine, domain: string): X509Certificate | null {
  const path = locate(machine, join(lineagePath(domain), 'fullchain.pem'));
  return existsSync(path) ? new X509Certificate(readFileSync(path)) : null;
}

/** Messages of certbot with their explanations; the first match counts. */
const CAUSES: readonly (readonly [RegExp, (domain: string) => string])[] = [
  [
    /Could not bind TCP port 80|Problem binding to port 80/iu,
    () =>
      'Another program uses port 80, on which the authority validates: stop it for the installation, or choose LATCHKEY_INSTALL_MODE=proxy.',
  ],
  [
    /Another instance of Certbot/iu,
    () => 'Another certbot is running, perhaps for a renewal: run this again when it has ended.',
  ],
  [
    /rateLimited|rate.?limit|too many (?:certificates|failed|new|currently)/iu,
    (domain) =>
      `The authority has reached its rate limit for ${domain}: wait until the time that it names, or provide a certificate by LATCHKEY_CERT_FILE and LATCHKEY_KEY_FILE.`,
  ],
  [
    /invalidContact|invalid email|unsupportedContact|contact email/iu,
    () => 'The authority rejects the e-mail address: correct LATCHKEY_EMAIL.',
  ],
  [
    /NXDOMAIN|DNS problem|Type:\s+dns/iu,
    (domain) =>
      `The authority does not find ${domain} in the DNS: point its A and AAAA records to this machine.`,
  ],
  [
    /Some challenges have failed|Type:\s+(?:connection|unauthorized)|urn:ietf:params:acme:error:(?:connection|unauthorized)/iu,
    (domain) =>
      `The authority got no valid answer from http://${domain}/: point the DNS records of ${domain} to this machine, and open port 80.`,
  ],
  [
    /CERTIFICATE_VERIFY_FAILED|SSLError/u,
    () =>
      "The authority's own certificate is not trusted here: set the clock, install ca-certificates, or correct LATCHKEY_ACME_SERVER.",
  ],
  [
    /ConnectionError|Max retries exceeded|Failed to establish a new connection|Network is unreachable|name resolution|Connection refused|timed out/iu,
    () =>
      'The authority cannot be reached from this machine: check its network, its DNS and LATCHKEY_ACME_SERVER.',
  ],
];

/** Returns why certbot failed and what to do, as one sentence. */
export function explainCertbot(
  { stdout, stderr, isMissing }: ProgramResult,
  domain: string,
): string {
  if (isMissing) return 'certbot is not installed: install it.';
  const output = `${stdout}\n${stderr}`;
  const cause = CAUSES.find(([pattern]) => pattern.test(output));
  return cause?.[1](domain) ?? `certbot could not obtain a certificate for ${domain}.`;
}
