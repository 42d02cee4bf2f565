import type { HostFacts, NginxFacts } from '../facts.ts';
import { planChallengeOnly } from '../nginx/plan-dedicated.ts';
import { planProxy } from '../nginx/plan-proxy.ts';
import type { ProxyPlan } from '../nginx/proxy-plan.ts';
import type { InstallOptions } from '../options.ts';
import { paths } from '../paths.ts';
import type { EditStep, FileStep, Step } from '../steps.ts';
import { assembleDraft, listHookSteps } from './agent-steps.ts';
import { explainOrder } from './choose-mode.ts';
import type { Draft, Manual, Refusal } from './plan.ts';
import { planCertificate } from './plan-certificate.ts';
import {
  describeProxy,
  guessCertificate,
  listEdits,
  listChallengeSteps,
} from './plan-challenge.ts';

/** The agent's own certificate is self-signed: its only client is nginx, which does not verify it. */
const BEHIND_NGINX = { mode: 'proxy', source: { kind: 'self-signed' } } as const;

/** Plans an agent that viewers reach through nginx, by the domain's own server block or by one of ours. */
export function planThroughNginx(
  options: InstallOptions,
  facts: HostFacts,
  nginx: NginxFacts,
): Draft | Manual | Refusal {
  const guessed = guessCertificate(options, facts);
  const proxy = planProxy(nginx.files, describeProxy(options, facts, guessed));
  if (proxy.kind === 'refused') return returnInstructions(proxy, options);
  if (proxy.kind === 'dedicated') return planDedicated(options, facts, nginx);
  const hasRoute = proxy.kind === 'existing';
  const edits = hasRoute ? listEdits([proxy.route], proxy.edits, nginx.files) : [];
  const renewal = planRenewal(edits, options, facts, nginx);
  const parts = {
    ...BEHIND_NGINX,
    ports: [443],
    completion: [
      ...(hasRoute ? [...listLimits(proxy.limits), proxy.route, ...edits] : []),
      ...renewal.steps,
      ...(hasRoute ? [RELOAD] : []),
      ...renewal.hooks,
    ],
    notes: [...proxy.notes, ...listUnusedNote(options)],
  };
  return assembleDraft(parts, options, facts);
}

const RELOAD = { kind: 'nginx', probesRoute: true } as const;

function planDedicated(
  options: InstallOptions,
  facts: HostFacts,
  nginx: NginxFacts,
): Draft | Manual | Refusal {
  const certificate = planCertificate(options, facts, true);
  if (certificate.kind === 'refusal') return certificate;
  const { issue, lineage } = certificate;
  const proxy = planProxy(nginx.files, describeProxy(options, facts, certificate));
  if (proxy.kind === 'refused') return returnInstructions(proxy, options);
  const isDedicated = proxy.kind === 'dedicated';
  const parts = {
    ...BEHIND_NGINX,
    ports: [...(lineage === null ? [] : [80]), 443],
    needsCertbot: issue !== null,
    preparation: [
      ...(isDedicated ? listChallengeSteps(proxy.challenge, nginx.files) : []),
      ...(issue === null ? [] : [issue]),
    ],
    completion: [
      // Last, so that nginx does not forward viewers before the agent runs.
      ...(isDedicated ? [...listLimits(proxy.limits), proxy.server, RELOAD] : []),
      ...listHookSteps('proxy', lineage),
    ],
    notes: [...proxy.notes, ...certificate.notes],
    objections: certificate.objections,
  };
  return assembleDraft(parts, options, facts);
}

/** Precedes the files that refer to the zone, because nginx must load the configuration after each step. */
function listLimits(limits: FileStep | null): readonly Step[] {
  return limits === null ? [] : [limits];
}

/** The steps for renewing a certificate that an installation obtained, and that another block presents now. */
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
  const presented = { ...guessCertificate(options, facts), needsChallenge: true };
  const challenge = planChallengeOnly(files, describeProxy(options, facts, presented));
  const hooks = listHookSteps('proxy', kept.directory);
  // Without these steps, because the challenge cannot be planned or a file would be edited twice, the plan has an objection.
  if (typeof challenge === 'string') return { steps: [], hooks };
  const steps = listChallengeSteps(challenge, files);
  const isEditedTwice = steps.some(
    (step) => step.kind === 'edit' && route.some(({ path }) => path === step.path),
  );
  return { steps: isEditedTwice ? [] : steps, hooks };
}

function returnInstructions(
  { reason, instructions }: Extract<ProxyPlan, { readonly kind: 'refused' }>,
  options: InstallOptions,
): Manual {
  return { kind: 'manual', reason, instructions: `${explainOrder(options)}\n${instructions}` };
}

function listUnusedNote({ certificateFiles, domain }: InstallOptions): readonly string[] {
  if (certificateFiles === null) return [];
  return [
    `${certificateFiles.certificate} is not used: nginx presents a certificate for ${domain} already.`,
  ];
}
