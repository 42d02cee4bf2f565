import { paths } from '../../paths.ts';
import type { FirewallStep } from '../../steps.ts';
import { type Machine, mustRun, succeeds } from '../machine.ts';
import { listRules } from '../nft-ruleset.ts';
import { COMMENT, openNftPort } from '../open-nft-port.ts';
import type { StepContext, StepKind } from '../step-kind.ts';
import { forgetPort, isKeptOpen, keepOpen } from './kept-ports.ts';

/** All others that are opened are the agent's own. */
const WEB_PORTS: ReadonlySet<string> = new Set(['80', '443']);

type Tool = FirewallStep['tool'];

export const firewall: StepKind<FirewallStep> = {
  outlivesPlans: false,
  describe: ({ tool, port }) => `Open port ${port} (${tool})`,
  findSubject: ({ tool, port }) => ({ tool, port: `${port}` }),

  async holds({ tool, port }, context) {
    if (!(await isOpen(tool, port, context))) return false;
    return tool !== 'nft' || isKeptOpen(port, context);
  },

  async remember({ tool, port: text }, context) {
    const port = Number(text);
    const isThere = await isOpen(readTool(tool), port, context);
    const isKept = tool === 'nft' && (await isKeptOpen(port, context));
    return { paths: [], facts: { open: isThere ? ['yes'] : [], kept: isKept ? ['yes'] : [] } };
  },

  async apply({ tool, port }, context) {
    await open(tool, port, context);
    return {};
  },

  async undo({ subject, before }, context) {
    const [tool, port] = [readTool(subject['tool']), Number(subject['port'])];
    const wasOpen = before.facts['open']?.includes('yes') === true;
    const wasKept = before.facts['kept']?.includes('yes') === true;
    // First what opens it at the next start: a reload of the rules would open it again.
    if (tool === 'nft' && !wasKept) await forgetPort(port, context);
    if (wasOpen === (await isOpen(tool, port, context))) return;
    if (!wasOpen) await close(tool, port, context);
    else if (tool === 'nft') await openNftPort(port, context);
    else await open(tool, port, context);
  },

  // An upgrade that does not ask for open ports once more must not lock viewers out; behind a proxy nobody needs the agent's.
  isWanted({ subject: { port = '' } }, names) {
    const isProxied = [paths.nginxServer, paths.nginxRoute].some((path) =>
      names.includes(`file ${path}`),
    );
    return WEB_PORTS.has(port) || !isProxied;
  },
};

function readTool(text: string | undefined): Tool {
  return text === 'nft' || text === 'firewalld' ? text : 'ufw';
}

async function isOpen(tool: Tool, port: number, machine: Machine): Promise<boolean> {
  if (tool === 'nft') return (await listRules(machine, port, COMMENT)).length > 0;
  if (tool === 'firewalld') {
    const asked = ['firewall-cmd', '--permanent', `--query-port=${port}/tcp`];
    return succeeds(machine, asked);
  }
  const { stdout } = await machine.runProgram('ufw', ['show', 'added']);
  return stdout.split('\n').some((line) => line.startsWith(`ufw allow ${port}/tcp`));
}

async function open(tool: Tool, port: number, context: StepContext): Promise<void> {
  const failure = `Port ${port} could not be opened:`;
  if (tool === 'nft') {
    await openNftPort(port, context);
    return keepOpen(port, context);
  }
  if (tool === 'ufw') {
    await mustRun(context, failure, ['ufw', 'allow', `${port}/tcp`, 'comment', COMMENT]);
    return;
  }
  for (const now of [['--permanent'], []]) {
    await mustRun(context, failure, ['firewall-cmd', ...now, `--add-port=${port}/tcp`]);
  }
}

async function close(tool: Tool, port: number, machine: Machine): Promise<void> {
  const failure = `Port ${port} could not be closed again:`;
  if (tool === 'ufw') {
    await mustRun(machine, failure, ['ufw', 'delete', 'allow', `${port}/tcp`]);
    return;
  }
  if (tool === 'firewalld') {
    for (const now of [['--permanent'], []]) {
      await mustRun(machine, failure, ['firewall-cmd', ...now, `--remove-port=${port}/tcp`]);
    }
    return;
  }
  for (const { family, table, name, handle } of await listRules(machine, port, COMMENT)) {
    const place = [family, table, name, 'handle', handle];
    await mustRun(machine, failure, ['nft', 'delete', 'rule', ...place]);
  }
}
