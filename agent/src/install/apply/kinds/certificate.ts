import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { paths } from '../../paths.ts';
import type { ProgramResult } from '../../../system/run-program.ts';
import type { CertificateStep } from '../../steps.ts';
import { findAccount, isIssuedWithin, listTraces, removeTraces } from '../certbot.ts';
import { lastLines, locate, type Machine } from '../machine.ts';
import { captureTree, lstatOrNull, restore } from '../path-state.ts';
import type { Entry, StepContext, StepKind } from '../step-kind.ts';

const LETSENCRYPT = '/etc/letsencrypt';
const ACCOUNTS = `${LETSENCRYPT}/accounts`;

/** The authority validates from several places, and certbot waits for it. */
const CERTBOT_TIMEOUT_MS = 300_000;
const PAUSE_MS = 500;

export const certificate: StepKind<CertificateStep> = {
  outlivesPlans: false,
  // A certificate of another domain could not be renewed, unless another program uses it.
  isWanted: ({ subject: { domain = '' } }, _names, { services }) =>
    services.keepsCertificate(domain),
  describe: ({ domain, challenge }) => `Get a certificate for ${domain} (${challenge.kind})`,
  findSubject: ({ domain }) => ({ domain }),

  async isSatisfied({ domain, challenge }, context) {
    const issued = readCertificate(context, domain);
    if (issued === null || issued.validToDate <= context.services.now()) return false;
    // It could no longer be renewed: another program listens on port 80 now.
    const other = challenge.kind === 'standalone' ? 'webroot' : 'standalone';
    return readAuthenticator(context, domain) !== other;
  },

  async capture({ domain = '' }, context) {
    const lineage = [findLineage(domain), findArchive(domain), ACCOUNTS];
    const existing = lineage.filter((path) => lstatOrNull(locate(context, path)) !== null);
    const states = [findRenewal(domain), ...existing].flatMap((path) =>
      captureTree(context, context.backups, path),
    );
    const startedAt = [context.services.now().toISOString()];
    return { paths: states, facts: { traces: listTraces(context), startedAt } };
  },

  async apply(step, context, before) {
    // The authority limits failed validations per hour.
    const { checkChallenge } = context.services;
    const problem = step.challenge.kind === 'webroot' ? await checkChallenge(step.domain) : null;
    if (problem !== null) throw new Error(problem);
    const isThere = readCertificate(context, step.domain) !== null;
    const args = [...listArguments(step), ...(isThere ? ['--force-renewal'] : [])];
    const result = await context.runProgram('certbot', args, { timeoutMs: CERTBOT_TIMEOUT_MS });
    if (result.code !== 0) throw new Error(explainFailure(step, result));
    await runHook(step.domain, context);
    context.changed.add(findLineage(step.domain));
    const account = findAccount(context, step.domain);
    const isNew = account !== null && before.facts['traces']?.includes(account) !== true;
    return { added: isNew ? [account] : [] };
  },

  async undo(entry, context) {
    const { domain = '' } = entry.subject;
    const [renewal, ...others] = entry.before.paths;
    if (entry.after === null) await waitForCertbot(context);
    if (renewal?.type === 'file') {
      const missing = others.filter(({ path }) => lstatOrNull(locate(context, path)) === null);
      for (const state of [...missing, renewal]) restore(context, context.backups, state);
    } else await removeLineage(domain, entry, context);
  },
};

function listArguments({ domain, email, acmeServer, challenge }: CertificateStep): string[] {
  const how =
    challenge.kind === 'standalone'
      ? ['--standalone']
      : ['--webroot', '--webroot-path', challenge.directory];
  const account = ['--non-interactive', '--agree-tos', '--email', email, '--no-eff-email'];
  const what = ['--domain', domain, '--cert-name', domain, '--key-type', 'ecdsa'];
  const server = acmeServer === null ? [] : ['--server', acmeServer];
  return ['certonly', ...how, ...account, ...what, ...server];
}

function explainFailure({ domain }: CertificateStep, result: ProgramResult): string {
  const sentence = explainCertbot(result, domain);
  return [sentence, ...lastLines(result)].join('\n  ');
}

/** certbot runs deploy hooks only at renewals, before its version 5.3. */
async function runHook(domain: string, context: StepContext): Promise<void> {
  if (!existsSync(locate(context, paths.renewalHook))) return;
  const environment = { RENEWED_LINEAGE: findLineage(domain), RENEWED_DOMAINS: domain };
  const result = await context.runProgram(paths.renewalHook, [], { environment });
  if (result.code === 0) return;
  const lines = lastLines(result);
  throw new Error(['The renewed certificate was not taken over:', ...lines].join('\n  '));
}

/** Waits for a certbot that outlived its installer, and would write what is being removed. */
async function waitForCertbot(context: StepContext): Promise<void> {
  for (let waitedMs = 0; waitedMs < CERTBOT_TIMEOUT_MS; waitedMs += PAUSE_MS) {
    const { stdout, stderr } = await context.runProgram('certbot', ['certificates']);
    if (!/Another instance of Certbot/iu.test(stdout + stderr)) return;
    await context.services.sleep(PAUSE_MS);
  }
}

async function removeLineage(domain: string, entry: Entry, context: StepContext): Promise<void> {
  const startedAt = readStart(entry);
  const isInterrupted = entry.after === null;
  if (isInterrupted && !isIssuedWithin(context, domain, startedAt)) {
    context.report(
      `The certificate ${domain} stays, for it was requested after the interrupted installation.`,
    );
    return;
  }
  if (existsSync(locate(context, findRenewal(domain)))) {
    const args = ['delete', '--non-interactive', '--cert-name', domain];
    await context.runProgram('certbot', args);
  }
  // certbot does not delete a certificate whose creation was interrupted.
  for (const path of [findLineage(domain), findArchive(domain), findRenewal(domain)]) {
    rmSync(locate(context, path), { recursive: true, force: true });
  }
  removeTraces(context, {
    earlier: entry.before.facts['traces'] ?? [],
    accounts: entry.after?.['added'] ?? [],
    interruptedAt: isInterrupted ? startedAt : null,
  });
}

function readStart({ before }: Entry): Date {
  return new Date(before.facts['startedAt']?.[0] ?? 0);
}

function readCertificate(machine: Machine, domain: string): X509Certificate | null {
  const path = locate(machine, join(findLineage(domain), 'fullchain.pem'));
  return existsSync(path) ? new X509Certificate(readFileSync(path)) : null;
}

function readAuthenticator(machine: Machine, domain: string): string | null {
  const path = locate(machine, findRenewal(domain));
  if (!existsSync(path)) return null;
  const [, name = null] = /^authenticator = (\S+)/mu.exec(readFileSync(path, 'utf8')) ?? [];
  return name;
}

function findLineage(domain: string): string {
  return join(LETSENCRYPT, 'live', domain);
}

function findArchive(domain: string): string {
  return join(LETSENCRYPT, 'archive', domain);
}

function findRenewal(domain: string): string {
  return join(LETSENCRYPT, 'renewal', `${domain}.conf`);
}

/** Messages of certbot with their explanations; the first match counts. */
const CAUSES: readonly (readonly [RegExp, (domain: string) => string])[] = [
  [
    /Could not bind TCP port 80|Problem binding to port 80/iu,
    () =>
      'Port 80, where the authority looks, is in use by another program: stop it for the installation, or choose LATCHKEY_INSTALL_MODE=proxy.',
  ],
  [
    /Another instance of Certbot/iu,
    () => 'certbot is running already, perhaps for a renewal: start again when it has ended.',
  ],
  [
    /rateLimited|rate.?limit|too many (?:certificates|failed|new|currently)/iu,
    (domain) =>
      `The authority issues no more certificates for ${domain} for now: wait until the time that it names, or provide a certificate by LATCHKEY_CERT_FILE and LATCHKEY_KEY_FILE.`,
  ],
  [
    /invalidContact|invalid email|unsupportedContact|contact email/iu,
    () => 'The authority does not take the e-mail address: correct LATCHKEY_EMAIL.',
  ],
  [
    /NXDOMAIN|DNS problem|Type:\s+dns/iu,
    (domain) =>
      `The authority does not find ${domain} in the DNS: point its A and AAAA records to this machine.`,
  ],
  [
    /Some challenges have failed|Type:\s+(?:connection|unauthorized)|urn:ietf:params:acme:error:(?:connection|unauthorized)/iu,
    (domain) =>
      `The authority did not get its answer from http://${domain}/: point the DNS of ${domain} to this machine, and open port 80.`,
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
  if (isMissing) return 'certbot is not on this machine: install it.';
  const output = `${stdout}\n${stderr}`;
  const found = CAUSES.find(([pattern]) => pattern.test(output));
  return found?.[1](domain) ?? `certbot could not get a certificate for ${domain}.`;
}
