import type { HostFacts, NginxFacts } from '../facts.ts';
import { planChallengeOnly } from '../nginx/plan-dedicated.ts';
import { planProxy, type ProxyPlan } from '../nginx/plan-proxy.ts';
import type { InstallOptions } from '../options.ts';
import { paths } from '../paths.ts';
import type { EditStep, Step } from '../steps.ts';
import { listAgentSteps, listBaseSteps, listHookSteps } from './agent-steps.ts';
import { explainOrder } from './choose-mode.ts';
import type { Draft, Manual, Refusal } from './plan.ts';
import { planCertificate } from './plan-certificate.ts';
import {
  describeProxy,
  guessCertificate,
  listEdits,
  listChallengeSteps,
} from './plan-challenge.ts';
import { planFirewall } from './plan-firewall.ts';

type Dedicated = Extract<ProxyPlan, { readonly kind: 'dedicated' }>;

/** nginx, which does not verify it, is the only client of the agent's own port. */
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
  const route = way.kind === 'existing' ? listEdits([way.route], way.edits, nginx.files) : [];
  const renewal = planRenewal(route, options, facts, nginx);
  const note = listUnusedNote(options);
  const firewall = planFirewall(options, facts, [443]);
  return {
    kind: 'draft',
    steps: [
      ...listBaseSteps(facts, false),
      ...firewall.steps,
      ...listAgentSteps(options, 'proxy', OWN, facts),
      ...(way.kind === 'existing' ? [...listLimits(way.limits), way.route, ...route] : []),
      ...renewal.steps,
      ...(way.kind === 'existing' ? [{ kind: 'nginx', probesRoute: true } as const] : []),
      ...renewal.hooks,
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
      ...listBaseSteps(facts, certificate.issue !== null),
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

/** Last, so that nginx does not forward viewers before the agent runs. */
function listServerSteps({ limits, server }: Dedicated): readonly Step[] {
  return [...listLimits(limits), server, { kind: 'nginx', probesRoute: true }];
}

/** Before the files that refer to it, because nginx must load the configuration after each step. */
function listLimits(limits: Dedicated['limits']): readonly Step[] {
  return limits === null ? [] : [limits];
}

/** The steps that keep a certificate renewed that an installation obtained, and that another block presents now. */
interface Renewal {
  readonly steps: readonly Step[];
  readonly hooks: readonly Step[];
}

const NOTHING_TO_RENEW: Renewal = { steps: [], hooks: [] };

function planRenewal(
  route: readonly EditStep[],
  options: InstallOptions,
  facts: HostFacts,
  { files }: NginxFacts,
): Renewal {
  const { certificate: kept, certificateUses } = facts;
  const isOurs = kept?.webroots.includes(paths.challenges) === true;
  if (!isOurs || !certificateUses.some(({ name }) => name === kept.name)) return NOTHING_TO_RENEW;
  const shown = { ...guessCertificate(options, facts), needsChallenge: true };
  const challenge = planChallengeOnly(files, describeProxy(options, facts, shown));
  const hooks = listHookSteps('proxy', kept.directory);
  // A file cannot be edited twice; the plan then has an objection.
  if (typeof challenge === 'string') return { steps: [], hooks };
  const steps = listChallengeSteps(challenge, files);
  const isEditedTwice = steps.some(
    (step) => step.kind === 'edit' && route.some(({ path }) => path === step.path),
  );
  return { steps: isEditedTwice ? [] : steps, hooks };
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
