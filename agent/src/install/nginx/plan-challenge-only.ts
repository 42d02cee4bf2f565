import type { NginxFile } from '../facts.ts';
import { NginxFault } from './nginx-fault.ts';
import { isOwnServerFile } from './own-files.ts';
import { type Challenge, planChallenge } from './plan-dedicated.ts';
import type { ProxyOptions } from './proxy-plan.ts';
import { readConfiguration } from './read-configuration.ts';
import { listServers } from './servers.ts';

/**
 * Plans what answers the challenge for a certificate that nginx itself does not show.
 * @param files what nginx loads, the main file first
 * @returns one sentence when it cannot be told what that would do
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
