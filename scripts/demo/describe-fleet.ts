import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { AgentFleet } from '../../agent/test/fleet/agent-fleet.ts';
import { CAST } from '../../agent/test/fleet/plan.ts';

/** Describes how to use a running demo of the fleet page. */
export function describeFleet(fleet: AgentFleet, shortAddress: string): string {
  const { plans, trustArgument, authorityFile } = fleet;
  const token = plans.find(({ id }) => id === CAST.token)?.token ?? '–';
  const profile = join(tmpdir(), 'latchkey-demo-browser');
  return [
    '',
    `  ${plans.length} agents run on this machine, on ${plans[0]?.host} to ${plans.at(-1)?.host}.`,
    '',
    '  Open the page with a browser that trusts their certificate:',
    '',
    `    chromium --user-data-dir=${profile} ${trustArgument} ${shortAddress}`,
    '',
    `  Any other browser must import the authority first: ${authorityFile}`,
    `  Then open ${shortAddress}`,
    '',
    `  ${CAST.token} asks for a token: ${token}`,
    '  Type a line to change what the page watches:',
    '',
    `    freeze ${CAST.frozen}        and thaw ${CAST.frozen}`,
    `    stop ${CAST.stopped}        and start ${CAST.stopped}`,
    `    reboot ${CAST.rebooted}        or any other machine`,
    `    restart ${CAST.restarted}     the agent alone`,
    `    forget-token ${CAST.token}   its token is unknown from now on`,
    '',
    '  Stop with Ctrl-C.',
    '',
    '',
  ].join('\n');
}
