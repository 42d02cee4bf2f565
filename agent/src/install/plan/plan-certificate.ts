import type { CertificateFacts, CertificateFiles, HostFacts, Listener } from '../facts.ts';
import type { InstallOptions } from '../options.ts';
import { paths } from '../paths.ts';
import type { CertificateStep, Step } from '../steps.ts';
import { describeListener, describeStop, explainPackage } from './check-host.ts';
import { checkAddresses } from './check-addresses.ts';
import { listFirewallObjections } from './plan-firewall.ts';
import { type Refusal, refuse } from './plan.ts';

/** The source of the certificate that viewers see. */
export interface CertificatePlan {
  readonly kind: 'certificate';
  readonly certificate: string;
  readonly key: string;
  /** The step that issues it; null when it exists. */
  readonly issue: CertificateStep | null;
  /** certbot's directory, when certbot renews it. */
  readonly lineage: string | null;
  /** Whether nginx must answer challenges from our directory, now or at renewals. */
  readonly needsChallenge: boolean;
  readonly notes: readonly string[];
  readonly objections: readonly string[];
}

type Challenge = CertificateStep['challenge'];

const WEBROOT: Challenge = { kind: 'webroot', directory: paths.challenges };

/**
 * Plans the certificate that viewers see: the given one, one of certbot, or a new one.
 * @param isProxied whether nginx presents it
 */
export function planCertificate(
  options: InstallOptions,
  facts: HostFacts,
  isProxied: boolean,
): CertificatePlan | Refusal {
  const given = options.certificateFiles;
  if (given !== null) {
    const lineage = findLineage(given);
    if (lineage !== null)
      return { ...createPlan(given, lineage, []), needsChallenge: isChallenged(facts, lineage) };
    return createPlan(given, null, [
      `${given.certificate} is not renewed by this program: when it is replaced, ${isProxied ? 'reload nginx' : 'run this again'}.`,
    ]);
  }
  const kept = facts.certificate;
  const challenge = chooseChallenge(facts, isProxied);
  if (kept === null || kept.isExpired) return planIssue(options, facts, challenge);
  if (isRenewable(kept, challenge)) return keepCertificate(kept, []);
  // The certificate of another domain must not be replaced, and a new one needs an e-mail address.
  if (kept.name === options.domain && options.email !== null) {
    return planIssue(options, facts, challenge);
  }
  return keepCertificate(kept, [
    `certbot renews the certificate ${kept.name} by ${kept.authenticator}, which fails because of how port 80 is used here: configure another method (certbot certonly --cert-name ${kept.name}).`,
  ]);
}

/** Returns certbot's directory when both files lie in it, where certbot replaces them. */
function findLineage({ certificate, key }: CertificateFiles): string | null {
  const [, directory] =
    /^(\/etc\/letsencrypt\/live\/[\w.*-]+)\/fullchain\.pem$/u.exec(certificate) ?? [];
  return directory !== undefined && key === `${directory}/privkey.pem` ? directory : null;
}

function isChallenged({ challenged }: HostFacts, lineage: string): boolean {
  return challenged.some((name) => lineage.endsWith(`/${name}`));
}

function keepCertificate(kept: CertificateFacts, notes: readonly string[]): CertificatePlan {
  const { directory, webroots } = kept;
  const files = { certificate: `${directory}/fullchain.pem`, key: `${directory}/privkey.pem` };
  const needsChallenge = webroots.includes(paths.challenges);
  return { ...createPlan(files, directory, notes), needsChallenge };
}

function createPlan(
  files: { readonly certificate: string; readonly key: string },
  lineage: string | null,
  notes: readonly string[],
): CertificatePlan {
  const nothing = { issue: null, needsChallenge: false, objections: [] };
  return { kind: 'certificate', ...files, ...nothing, lineage, notes };
}

/** Chooses nginx when it listens on port 80 or will, and certbot itself when port 80 is free; otherwise returns the listener. */
function chooseChallenge(
  { listeners, nginx }: HostFacts,
  isProxied: boolean,
): Challenge | Listener {
  const [listener, ...others] = listeners.filter(({ port }) => port === 80);
  const all = listener === undefined ? [] : [listener, ...others];
  const foreign = all.find(({ process }) => process?.name !== 'nginx' || nginx === null);
  if (foreign !== undefined) return foreign;
  return isProxied || all.length > 0 ? WEBROOT : { kind: 'standalone' };
}

/** Whether certbot can renew it: certbot renews by the method of the issue. */
function isRenewable(
  { authenticator, webroots }: CertificateFacts,
  challenge: Challenge | Listener,
): boolean {
  const isFree = 'kind' in challenge && challenge.kind === 'standalone';
  if (authenticator === 'standalone') return isFree;
  if (webroots.includes(paths.challenges)) return !isFree && 'kind' in challenge;
  return true;
}

function planIssue(
  options: InstallOptions,
  facts: HostFacts,
  challenge: Challenge | Listener,
): CertificatePlan | Refusal {
  const { domain, email, acmeServer } = options;
  const reasons = [
    ...(email === null
      ? [
          'The e-mail address for the certificate is missing: give it with --email or LATCHKEY_EMAIL, or give a certificate of your own with --cert-file and --key-file.',
        ]
      : []),
    ...(facts.hasCertbot || facts.hasApt
      ? []
      : [explainPackage('certbot', facts.distribution.name)]),
    ...('kind' in challenge ? [] : [explainPort80(challenge)]),
  ];
  if (email === null) return { ...refuse(...reasons), lacksOption: true };
  if (reasons.length > 0 || !('kind' in challenge)) return refuse(...reasons);
  const directory = `/etc/letsencrypt/live/${domain}`;
  const issue: CertificateStep = { kind: 'certificate', domain, email, acmeServer, challenge };
  const verdict = checkAddresses(domain, facts);
  return {
    kind: 'certificate',
    certificate: `${directory}/fullchain.pem`,
    key: `${directory}/privkey.pem`,
    issue,
    lineage: directory,
    needsChallenge: challenge.kind === 'webroot',
    notes: verdict.notes,
    objections: options.skipsDnsCheck
      ? []
      : [...verdict.objections, ...listFirewallObjections(options, facts)],
  };
}

function explainPort80(listener: Listener): string {
  return `Port 80, on which the authority validates, is used by ${describeListener(listener)}: ${describeStop(listener)} and run this again, or give a certificate of your own with --cert-file and --key-file.`;
}

const NAMED = /\/etc\/letsencrypt\/live\/([^/"'\\;\s]+)/gu;

/** Returns the certificates of certbot to keep: those in the plan's files, and in configurations of others. */
export function listKeptCertificates(
  steps: readonly Step[],
  { certificateUses }: Pick<HostFacts, 'certificateUses'>,
): readonly string[] {
  const issued = steps.flatMap((step) => (step.kind === 'certificate' ? [step.domain] : []));
  const planned = [...JSON.stringify(steps).matchAll(NAMED)].map(([, name = '']) => name);
  return [...new Set([...issued, ...planned, ...certificateUses.map(({ name }) => name)])];
}

/** Returns a sentence for each certificate in use whose renewal would fail after the plan is applied. */
export function listRenewalObjections(
  steps: readonly Step[],
  { certificate, certificateUses, challenged }: HostFacts,
): readonly string[] {
  const isAnswering = steps.some(
    (step) => step.kind === 'directory' && step.path === paths.challenges,
  );
  const used = new Map(certificateUses.map(({ name, path }) => [name, path]));
  const issued = steps.flatMap((step) => (step.kind === 'certificate' ? [step.domain] : []));
  const answered = new Set(isAnswering ? [...issued, certificate?.name] : issued);
  return challenged.flatMap((name) => {
    const path = used.get(name);
    if (path === undefined || answered.has(name)) return [];
    return [
      `The certificate ${name}, which an earlier installation obtained, is used by ${path}, and its renewal would fail from now on: have certbot renew it another way (certbot certonly --cert-name ${name} --domain ${name}), or use another one there; then run this again.`,
    ];
  });
}
