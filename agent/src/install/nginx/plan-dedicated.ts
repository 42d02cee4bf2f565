import type { NginxFile } from '../facts.ts';
import { paths } from '../paths.ts';
import type { EditStep, FileStep } from '../steps.ts';
import { findChallengeBlocker } from './blockers.ts';
import { findFileBlocker, includeSnippet } from './includes.ts';
import { challengePaths, isOwnServerFile, serverPaths, writeFile } from './own-files.ts';
import { mayUseIpv6, planLimits, chooseServerFile, spreadsHttp2 } from './choose-server-file.ts';
import type { ProxyOptions } from '../proxy-options.ts';
import type { ProxyPlan } from './proxy-plan.ts';
import { findDirectory, readConfiguration } from './read-configuration.ts';
import { refuseChallenge, refuseServer } from './refuse.ts';
import { renderChallenge, renderChallengeServer, renderServer } from './render.ts';
import { chooseServer, describeSeveral, listOnPort, listServers, type Server } from './servers.ts';
import { NginxFault } from './tokens.ts';

export interface Challenge {
  readonly files: readonly FileStep[];
  readonly edits: readonly EditStep[];
}

/** The configuration of nginx, with the agent's files and without. */
export interface Surroundings {
  readonly files: readonly NginxFile[];
  readonly others: readonly NginxFile[];
  readonly servers: readonly Server[];
}

const SPREADS_HTTP2 =
  'The server block of the agent turns on HTTP/2 for the other sites on port 443, too: before nginx 1.25.1 it is a setting of the port. Browsers fall back to HTTP/1.1 where they need it; a newer nginx keeps it to one site.';

/** Plans a server block of the agent, and the answers to the challenge for its certificate. */
export function planDedicated(around: Surroundings, wanted: ProxyOptions): ProxyPlan {
  const options = { ...wanted, hasIpv6: wanted.hasIpv6 && mayUseIpv6(around.servers, 443) };
  const limits = planLimits(around.others);
  const text = renderServer(options, limits !== null);
  const serverFile = chooseServerFile(around.files, around.others, {
    text,
    port: 443,
    candidates: serverPaths,
  });
  if ('reason' in serverFile) return refuseServer(serverFile, options);
  const challenge = options.needsChallenge
    ? planChallenge(around, wanted)
    : { files: [], edits: [] };
  if (typeof challenge === 'string') return refuseChallenge(challenge, options);
  const notes = spreadsHttp2(around.servers, wanted.version) ? [SPREADS_HTTP2] : [];
  return { kind: 'dedicated', limits, server: writeFile(serverFile.path, text), challenge, notes };
}

/**
 * Plans the answers to the challenge for the domain's certificate.
 * @returns one sentence when it cannot be answered
 */
function planChallenge(around: Surroundings, options: ProxyOptions): Challenge | string {
  const { domain } = options;
  const choice = chooseServer(listOnPort(around.servers, 80), domain);
  if (choice.kind === 'none') return planChallengeServer(around, options);
  if (choice.kind !== 'one') return describeSeveral(choice, domain, 80);
  const { server } = choice;
  const directory = findDirectory(around.files);
  const blocker = findChallengeBlocker(server) ?? findFileBlocker(server, directory);
  if (blocker !== null) return blocker;
  return {
    files: [writeFile(paths.nginxChallenge, renderChallenge())],
    edits: includeSnippet(server, paths.nginxChallenge, 'start', directory),
  };
}

function planChallengeServer(around: Surroundings, options: ProxyOptions): Challenge | string {
  const hasIpv6 = options.hasIpv6 && mayUseIpv6(around.servers, 80);
  const text = renderChallengeServer({ ...options, hasIpv6 });
  const serverFile = chooseServerFile(around.files, around.others, {
    text,
    port: 80,
    candidates: challengePaths,
  });
  return 'reason' in serverFile
    ? serverFile.reason
    : { files: [writeFile(serverFile.path, text)], edits: [] };
}

/**
 * Plans the answers to the challenge for a certificate that nginx itself does not present.
 * @param files the files that nginx loads, the main file first
 * @returns one sentence when the effect cannot be predicted
 */
export function planChallengeOnly(
  files: readonly NginxFile[],
  options: ProxyOptions,
): Challenge | string {
  const others = files.filter(({ path }) => !isOwnServerFile(path));
  try {
    const servers = listServers(readConfiguration(others));
    return planChallenge({ files, others, servers }, options);
  } catch (error) {
    if (error instanceof NginxFault) return error.message;
    throw error;
  }
}
