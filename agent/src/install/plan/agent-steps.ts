import { basename, dirname } from 'node:path';

import { renderAgentYaml } from '../files/agent-yaml.ts';
import {
  DISK_HEALTH_TIMER,
  renderDiskHealthTimer,
  renderDiskHealthUnit,
} from '../files/disk-health-units.ts';
import { renderRenewalHook } from '../files/renewal-hook.ts';
import {
  renderRevocationsTimer,
  renderRevocationsUnit,
  renderServiceUnit,
} from '../files/units.ts';
import type { HostFacts, InstallMode } from '../facts.ts';
import type { InstallOptions } from '../options.ts';
import { agentUnit, agentUser, paths } from '../paths.ts';
import type { FileStep, OwnCertificateStep, Step } from '../steps.ts';
import type { Draft } from './plan.ts';
import { planFirewall } from './plan-firewall.ts';
import { keepsConfiguration, planSettings } from './plan-settings.ts';

/** The parts of a draft that depend on the mode. */
interface DraftParts {
  readonly mode: InstallMode;
  readonly source: OwnCertificateStep['source'];
  /** The ports that viewers and the authority must reach. */
  readonly ports: readonly number[];
  readonly needsCertbot?: boolean;
  /** Steps before the agent's, such as the issue of its certificate. */
  readonly preparation?: readonly Step[];
  /** Steps after the agent's. */
  readonly completion?: readonly Step[];
  readonly notes: readonly string[];
  readonly objections?: readonly string[];
  readonly manualSteps?: Draft['manualSteps'];
}

/** Assembles a draft: the program, open ports, the agent, and the steps of its mode. */
export function assembleDraft(
  { mode, source, ports, needsCertbot = false, ...parts }: DraftParts,
  options: InstallOptions,
  facts: HostFacts,
): Draft {
  const { preparation = [], completion = [], notes, objections = [], manualSteps = null } = parts;
  const firewall = planFirewall(options, facts, ports);
  return {
    kind: 'draft',
    steps: [
      ...listBaseSteps(facts, needsCertbot),
      ...firewall.steps,
      ...preparation,
      ...listAgentSteps(options, mode, source, facts),
      ...completion,
    ],
    notes: [...notes, ...firewall.notes],
    objections,
    manualSteps,
  };
}

/** Returns the steps for the program, its user and its directories, which all others depend on. */
function listBaseSteps(facts: HostFacts, needsCertbot: boolean): readonly Step[] {
  const names = [
    ...(needsCertbot && !facts.hasCertbot ? ['certbot'] : []),
    ...(facts.hasOpenssl ? [] : ['openssl']),
  ];
  const configuration = dirname(paths.configuration);
  return [
    ...(names.length === 0 ? [] : [{ kind: 'packages', names } as const]),
    { kind: 'user', name: agentUser },
    { kind: 'program', from: facts.packageDirectory ?? paths.program, to: paths.program },
    { kind: 'link', path: paths.command, target: `${paths.program}/bin/latchkey-agent` },
    { kind: 'directory', path: configuration, mode: 0o755, group: 'root' },
    { kind: 'directory', path: dirname(paths.certificate), mode: 0o750, group: agentUser },
  ];
}

/** Returns the steps for the agent's certificate, configuration and units. */
function listAgentSteps(
  options: InstallOptions,
  mode: InstallMode,
  source: OwnCertificateStep['source'],
  facts: HostFacts,
): readonly Step[] {
  const { domain, mutualTls } = options;
  const withProxyCertificate = mode === 'proxy';
  return [
    { kind: 'own-certificate', domain, source },
    ...(mutualTls ? [{ kind: 'authority', domain, withProxyCertificate } as const] : []),
    writeConfiguration(options, mode, facts),
    writePublicFile(paths.unit, renderServiceUnit(facts.nvidiaModprobe)),
    ...(mutualTls
      ? [
          writePublicFile(paths.revocationsUnit, renderRevocationsUnit()),
          writePublicFile(paths.revocationsTimer, renderRevocationsTimer()),
        ]
      : []),
    { kind: 'service', unit: agentUnit },
    ...listDiskHealthSteps(facts),
    ...(mutualTls ? [{ kind: 'service', unit: REVOCATIONS_TIMER } as const] : []),
  ];
}

/** Returns the steps that read the health of disks as root, where smartctl is installed. */
function listDiskHealthSteps({ smartctl }: HostFacts): readonly Step[] {
  if (smartctl === null) return [];
  return [
    writePublicFile(paths.diskHealthUnit, renderDiskHealthUnit(smartctl)),
    writePublicFile(paths.diskHealthTimer, renderDiskHealthTimer()),
    { kind: 'service', unit: DISK_HEALTH_TIMER },
  ];
}

const REVOCATIONS_TIMER = basename(paths.revocationsTimer);

/** Returns the step for certbot's deploy hook; none where the certificate is not certbot's. */
export function listHookSteps(mode: InstallMode, lineage: string | null): readonly Step[] {
  if (lineage === null) return [];
  const hook = writePublicFile(paths.renewalHook, renderRenewalHook(mode, lineage));
  return [{ ...hook, mode: 0o755 }];
}

function writeConfiguration(
  options: InstallOptions,
  mode: InstallMode,
  facts: HostFacts,
): FileStep {
  const { domain, mutualTls } = options;
  return {
    kind: 'file',
    path: paths.configuration,
    text: renderAgentYaml({ domain, mode, mutualTls }, planSettings(options, mode, facts)),
    mode: 0o640,
    group: agentUser,
    keepsExisting: keepsConfiguration(options, mode, facts.installed),
  };
}

function writePublicFile(path: string, text: string): FileStep {
  return { kind: 'file', path, text, mode: 0o644, group: 'root', keepsExisting: false };
}
