// The planner: decides the steps of an installation from its options and the facts of the machine.
import { version } from '../../version.ts';

import type { ConfiguredFacts, HostFacts, InstallMode } from '../facts.ts';
import type { InstallOptions } from '../options.ts';
import { agentUnit, paths } from '../paths.ts';
import {
  describeChanges,
  findAgentPort,
  keepsConfiguration,
  listSettingBlockers,
  planSettings,
} from './plan-settings.ts';
import {
  explainSelinux,
  findPortBlocker,
  listChangeNotes,
  listBlockers,
  listSelinuxCommands,
} from './check-host.ts';
import { chooseMode } from './choose-mode.ts';
import { isOlder } from './is-older.ts';
import { type Draft, type Manual, type Plan, type Refusal, refuse } from './plan.ts';
import { listKeptCertificates, listRenewalObjections } from './plan-certificate.ts';
import { planManualProxy } from './plan-manual.ts';
import { planStandalone } from './plan-standalone.ts';
import { planThroughNginx } from './plan-through-nginx.ts';

/**
 * Plans an installation. The same options and facts always result in the same plan.
 * @returns the plan; manual instructions where the web server needs an administrator; or a refusal
 */
export function planInstall(options: InstallOptions, facts: HostFacts): Manual | Plan | Refusal {
  const hostBlockers = listBlockers(facts);
  if (hostBlockers.length > 0) return refuse(...hostBlockers);
  const downgrade = findDowngrade(options, facts);
  if (downgrade !== null) return refuse(downgrade);
  const chosen = chooseMode(options, facts);
  if (chosen.kind !== 'mode') return chosen;
  const { mode } = chosen;
  const blockers = listSettingBlockers(options, mode, facts);
  if (blockers.length > 0) return refuse(...blockers);
  const forbidden = mode === 'proxy' ? listSelinuxCommands(facts.selinux) : [];
  if (forbidden.length > 0) return refuse(explainSelinux('reach the agent', forbidden));
  const portBlocker = findPortBlocker(facts, findAgentPort(options, mode, facts));
  if (portBlocker !== null) return refuse(portBlocker);
  const draft = createDraft(options, facts, mode);
  return draft.kind === 'draft' ? finish(draft, mode, chosen.notes, options, facts) : draft;
}

/** Refuses a version whose faults may be known, unless the administrator wants it. */
function findDowngrade(
  { allowsDowngrade }: InstallOptions,
  { installed }: HostFacts,
): string | null {
  if (installed === null || allowsDowngrade || !isOlder(version, installed.version)) return null;
  return `This is version ${version}, and the newer ${installed.version} is installed: to install it nevertheless, use --allow-downgrade.`;
}

function createDraft(
  options: InstallOptions,
  facts: HostFacts,
  mode: InstallMode,
): Draft | Manual | Refusal {
  const { nginx } = facts;
  if (options.proxyByHand) return planManualProxy(options, facts);
  if (mode === 'proxy' && nginx !== null) return planThroughNginx(options, facts, nginx);
  return planStandalone(options, facts);
}

function finish(
  { steps, notes, objections, manualSteps }: Draft,
  mode: InstallMode,
  reasons: readonly string[],
  options: InstallOptions,
  facts: HostFacts,
): Plan {
  return {
    kind: 'plan',
    mode,
    agentPort: findAgentPort(options, mode, facts),
    steps,
    notes: [
      ...reasons,
      ...listChangeNotes(options, mode, facts),
      ...notes,
      ...describeConfiguration(options, mode, facts),
      ...describeAdmission(options, facts),
    ],
    manualSteps,
    objections: [...objections, ...listRenewalObjections(steps, facts)],
    keptCertificates: listKeptCertificates(steps, facts),
    installed: describeInstalled(options, mode, facts),
  };
}

/** An upgrade without `--skip-dns-check` keeps it for the same domain. */
function describeInstalled(
  { domain, proxyPath, mutualTls, proxyByHand, certificateFiles, skipsDnsCheck }: InstallOptions,
  mode: InstallMode,
  { installed }: HostFacts,
): Plan['installed'] {
  const isKept = installed?.domain === domain && installed.skipsDnsCheck;
  const flags = { mutualTls, proxyByHand, skipsDnsCheck: skipsDnsCheck || isKept };
  return { version, mode, domain, proxyPath, certificateFiles, ...flags };
}

function describeConfiguration(
  options: InstallOptions,
  mode: InstallMode,
  facts: HostFacts,
): readonly string[] {
  const { installed, configured } = facts;
  if (configured === null) return [];
  if (!keepsConfiguration(options, mode, installed)) {
    const changes = describeChanges(configured.settings, planSettings(options, mode, facts));
    const what = changes.length === 0 ? 'all are kept' : `only these change: ${changes.join('; ')}`;
    return [
      `${paths.configuration} is rewritten with your settings (${what}); the previous file is kept as ${paths.configurationBefore}.`,
    ];
  }
  return [...describeInterval(options, configured), ...describeOrigins(options, configured)];
}

function describeInterval(
  { scrapeIntervalSeconds: seconds }: InstallOptions,
  configured: ConfiguredFacts,
): readonly string[] {
  if (seconds === null || seconds === configured.intervalSeconds) return [];
  return [
    `${paths.configuration} is kept, so the interval is not changed: set interval_seconds: ${seconds} in it, then systemctl restart ${agentUnit}.`,
  ];
}

function describeOrigins(
  { allowedOrigins: wanted }: InstallOptions,
  { settings }: ConfiguredFacts,
): readonly string[] {
  const before = settings.get('viewers.allowed_origins') ?? [];
  if (wanted === null || JSON.stringify(wanted) === JSON.stringify(before)) return [];
  return [
    `${paths.configuration} is kept, so the allowed origins are not changed: use latchkey-agent origins add and remove.`,
  ];
}

function describeAdmission(
  { mutualTls }: InstallOptions,
  { configured }: HostFacts,
): readonly string[] {
  const hasTokens = typeof configured?.settings.get('viewers.tokens_file') === 'string';
  if (mutualTls || hasTokens) return [];
  return [
    `Anyone who reaches the address may watch: neither client certificates nor access tokens are required. Install with --mtls, or name a file of tokens in ${paths.configuration} (viewers.tokens_file).`,
  ];
}
