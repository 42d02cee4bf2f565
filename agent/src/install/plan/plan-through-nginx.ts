import type { HostFacts, NginxFacts } from '../facts.ts';
import { planProxy } from '../nginx/plan-proxy.ts';
import type { ProxyPlan } from '../nginx/proxy-plan.ts';
import type { InstallOptions } from '../options.ts';
import type { Step } from '../steps.ts';
import { listAgentSteps, listGroundSteps, listHookSteps } from './agent-steps.ts';
import { explainOrder } from './choose-mode.ts';
import type { Draft } from './draft.ts';
import type { Manual, Refusal } from './plan.ts';
import { planCertificate } from './plan-certificate.ts';
import {
  describeProxy,
  guessCertificate,
  listEdits,
  listChallengeSteps,
} from './plan-challenge.ts';
import { planFirewall } from './plan-firewall.ts';

type Dedicated = Extract<ProxyPlan, { readonly kind: 'dedicated' }>;
type Existing = Extract<ProxyPlan, { readonly kind: 'existing' }>;

/** The agent itself is asked by nginx alone, which does not verify it. */
const OWN = { kind: 'self-signed' } as const;

/** Plans an agent that viewers reach through nginx, by the domain's own server block or by one of ours. */
export function planThroughNginx(
  options: InstallOptions,
  facts: HostFacts,
  nginx: NginxFacts,
): Draft | Manual | Refusal {
  const way = planProxy(
    nginx.files,
    describeProxy(options, facts, guessCertificate(options, facts)),
  );
  if (way.kind === 'refused') return explainByHand(way, options);
  if (way.kind === 'dedicated') return planDedicated(options, facts, nginx);
  const note = listUnusedNote(options);
  const firewall = planFirewall(options, facts, [443]);
  return {
    kind: 'draft',
    steps: [
      ...listGroundSteps(facts, false),
      ...firewall.steps,
      ...listAgentSteps(options, 'proxy', OWN, facts),
      ...(way.kind === 'existing' ? listRouteSteps(way, nginx) : []),
    ],
    notes: [...way.notes, ...note, ...firewall.notes],
    objections: [],
  };
}

function planDedicated(
  options: InstallOptions,
  facts: HostFacts,
  nginx: NginxFacts,
): Draft | Manual | Refusal {
  const certificate = planCertificate(options, facts, true);
  if (certificate.kind === 'refusal') return certificate;
  const way = planProxy(nginx.files, describeProxy(options, facts, certificate));
  if (way.kind === 'refused') return explainByHand(way, options);
  const firewall = planFirewall(options, facts, [
    ...(certificate.lineage === null ? [] : [80]),
    443,
  ]);
  return {
    kind: 'draft',
    steps: [
      ...listGroundSteps(facts, certificate.issue !== null),
      ...firewall.steps,
      ...(way.kind === 'dedicated' ? listChallengeSteps(way.challenge, nginx.files) : []),
      ...(certificate.issue === null ? [] : [certificate.issue]),
      ...listAgentSteps(options, 'proxy', OWN, facts),
      ...(way.kind === 'dedicated' ? listServerSteps(way) : []),
      ...listHookSteps('proxy', certificate.lineage),
    ],
    notes: [...way.notes, ...certificate.notes, ...firewall.notes],
    objections: certificate.objections,
  };
}

/** Last of all, so that nobody is sent to an agent that is not there yet. */
function listServerSteps({ limits, server }: Dedicated): readonly Step[] {
  return [...listLimits(limits), server, { kind: 'nginx', probesRoute: true }];
}

function listRouteSteps(
  { limits, route, edits }: Existing,
  { files }: NginxFacts,
): readonly Step[] {
  return [
    ...listLimits(limits),
    route,
    ...listEdits([route], edits, files),
    { kind: 'nginx', probesRoute: true },
  ];
}

/** Before what refers to it: each step leaves a configuration that nginx can load. */
function listLimits(limits: Dedicated['limits']): readonly Step[] {
  return limits === null ? [] : [limits];
}

function explainByHand(
  { reason, instructions }: Extract<ProxyPlan, { readonly kind: 'refused' }>,
  options: InstallOptions,
): Manual {
  return { kind: 'manual', reason, instructions: `${explainOrder(options)}\n${instructions}` };
}

function listUnusedNote({ certificateFiles, domain }: InstallOptions): readonly string[] {
  if (certificateFiles === null) return [];
  return [
    `${certificateFiles.certificate} is not used: nginx shows a certificate for ${domain} already.`,
  ];
}
