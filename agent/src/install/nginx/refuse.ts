import { paths } from '../paths.ts';
import type { Blocker } from './blockers.ts';
import type { ProxyOptions } from '../proxy-options.ts';
import type { RefusedPlan } from './proxy-plan.ts';
import { renderChallengeServer, renderRoute, renderServer } from './render.ts';

/** Refuses to change the domain's block, with the lines to paste. */
export function refuseRoute(
  { reason, advice }: Blocker,
  options: ProxyOptions,
  place: string | null,
): RefusedPlan {
  const instructions = instructRoute(options, place, advice);
  return { kind: 'refused', reason, instructions };
}

/**
 * Renders the lines to paste into the domain's block.
 * @param place file and line of the block; null when unknown
 * @param advice advice in addition to the lines; null when they are sufficient
 */
export function instructRoute(
  options: ProxyOptions,
  place: string | null,
  advice: string | null,
): string {
  const at = place === null ? '' : ` (${place})`;
  return instruct(options, [
    `Put this into the server block that answers https://${options.domain}${at}, before its closing "}":`,
    renderRoute(options),
    ...(advice === null ? [] : [advice]),
  ]);
}

/** Refuses to verify client certificates in a block with its own settings. */
export function refuseVerification(reason: string, options: ProxyOptions): RefusedPlan {
  const { domain } = options;
  return refuse(reason, options, [
    `Give the agent a domain of its own, such as monitor.${domain}, and install for that.`,
    `Or put this into the server block of ${domain}, before its closing "}", instead of its own lines on client certificates:`,
    renderRoute(options),
  ]);
}

/** Refuses to add a server block, with one to paste. */
export function refuseServer({ reason, advice }: Blocker, options: ProxyOptions): RefusedPlan {
  const end = advice === null ? [] : [advice];
  const where = 'into the "http" part of the configuration of nginx, after all other server blocks';
  if (!options.needsChallenge)
    return refuse(reason, options, [`Put this ${where}:`, renderServer(options), ...end]);
  return refuse(reason, options, [
    `Put this ${where}, and load it (nginx -t && systemctl reload nginx):`,
    renderChallengeServer(options),
    `Get the certificate:\n\n    mkdir -p ${paths.challenges}\n    certbot certonly --webroot -w ${paths.challenges} -d ${options.domain}`,
    'Put this after it:',
    renderServer(options),
    ...end,
  ]);
}

/** Refuses to answer the challenge for a certificate in the domain's block on port 80. */
export function refuseChallenge(reason: string, options: ProxyOptions): RefusedPlan {
  return refuse(reason, options, [
    `Obtain a certificate for ${options.domain} as usual on this machine, with the chain at ${options.certificate} and its key at ${options.certificateKey}.`,
    'Then put this into the "http" part of the configuration of nginx:',
    renderServer(options),
  ]);
}

function refuse(reason: string, options: ProxyOptions, parts: readonly string[]): RefusedPlan {
  return { kind: 'refused', reason, instructions: instruct(options, parts) };
}

function instruct({ domain, proxyPath }: ProxyOptions, parts: readonly string[]): string {
  const end = [
    'Test it and load it:\n\n    nginx -t && systemctl reload nginx',
    `Check it (it answers OK): curl https://${domain}${proxyPath}/health`,
  ];
  return `${[...parts, ...end].map((part) => part.trimEnd()).join('\n\n')}\n`;
}
