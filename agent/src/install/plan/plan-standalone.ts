import { isIPv6 } from 'node:net';

import type { HostFacts } from '../facts.ts';
import { planChallengeOnly } from '../nginx/plan-dedicated.ts';
import type { InstallOptions } from '../options.ts';
import { paths } from '../paths.ts';
import type { Step } from '../steps.ts';
import { findAgentPort, planListen } from './plan-settings.ts';
import { assembleDraft, listHookSteps } from './agent-steps.ts';
import { explainFault } from './choose-mode.ts';
import { type Draft, type Refusal, refuse } from './plan.ts';
import { type CertificatePlan, planCertificate } from './plan-certificate.ts';
import { describeProxy, listChallengeSteps } from './plan-challenge.ts';
import { explainSelinux, listChallengeCommands } from './check-host.ts';

/** Plans an agent that viewers reach on its own port, with a certificate of a public authority. */
export function planStandalone(options: InstallOptions, facts: HostFacts): Draft | Refusal {
  const certificate = planCertificate(options, facts, false);
  if (certificate.kind === 'refusal') return certificate;
  const issue = planIssue(options, facts, certificate);
  if (issue.kind === 'refusal') return issue;
  const { certificate: file, key, lineage } = certificate;
  const port = findAgentPort(options, 'standalone', facts);
  const parts = {
    mode: 'standalone',
    source: { kind: 'files', certificate: file, key },
    ports: [...(lineage === null ? [] : [80]), port],
    needsCertbot: certificate.issue !== null,
    preparation: issue.steps,
    completion: listHookSteps('standalone', lineage),
    notes: [...certificate.notes, ...issue.notes, ...describeIpv6(options, facts)],
    objections: certificate.objections,
  } as const;
  return assembleDraft(parts, options, facts);
}

interface Issue {
  readonly kind: 'issue';
  readonly steps: readonly Step[];
  readonly notes: readonly string[];
}

const ALTERNATIVES = 'Give a certificate with --cert-file and --key-file, or choose proxy mode.';

/** Plans the issue of the certificate, through nginx where it listens on port 80. */
function planIssue(
  options: InstallOptions,
  facts: HostFacts,
  certificate: CertificatePlan,
): Issue | Refusal {
  const { nginx } = facts;
  const issue = certificate.issue === null ? [] : [certificate.issue];
  if (!certificate.needsChallenge || nginx === null || !nginx.isRunning) {
    return { kind: 'issue', steps: issue, notes: [] };
  }
  if (nginx.foreign !== null) return refuse(`${nginx.foreign} ${ALTERNATIVES}`);
  if (nginx.fault !== null) return refuse(explainFault(nginx.fault));
  const denied = listChallengeCommands(facts.selinux);
  if (denied.length > 0) return refuse(explainSelinux('answer challenges', denied));
  const challenge = planChallengeOnly(nginx.files, describeProxy(options, facts, certificate));
  if (typeof challenge === 'string') {
    return refuse(
      `nginx listens on port 80, and the certificate cannot be issued through it: ${challenge} ${ALTERNATIVES}`,
    );
  }
  return {
    kind: 'issue',
    steps: [...listChallengeSteps(challenge, nginx.files), ...issue],
    notes: [
      `nginx listens on port 80, so it answers the challenges for the certificate (from ${paths.challenges}); viewers reach the agent without nginx.`,
    ],
  };
}

function describeIpv6(options: InstallOptions, facts: HostFacts): readonly string[] {
  const { domainAddresses } = facts;
  const isByIpv6 = isIPv6(planListen('standalone', facts).host);
  const hasBoth = new Set(domainAddresses.map(isIPv6)).size === 2;
  if (isByIpv6 || !hasBoth) return [];
  const port = findAgentPort(options, 'standalone', facts);
  return [
    `${options.domain} has an IPv6 address, too: with listen: "[::]:${port}" in ${paths.configuration} the agent is reachable there, too.`,
  ];
}
