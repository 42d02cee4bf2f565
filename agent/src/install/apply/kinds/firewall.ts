import { AGENT_PORT, paths } from '../../paths.ts';
import type { FirewallStep } from '../../steps.ts';
import { type Machine, mustRun } from '../machine.ts';
import type { StepContext, StepKind } from '../step-kind.ts';

/** How our rules are known among others. */
const COMMENT = 'latchkey-agent';

type Tool = FirewallStep['tool'];

/** A chain that decides about what comes in. */
interface Chain {
  readonly family: string;
  readonly table: string;
  readonly name: string;
}

export const firewall: StepKind<FirewallStep> = {
  outlivesPlans: false,
  describe: ({ tool, port }) => `Open port ${port} (${tool})`,
  findSubject: ({ tool, port }) => ({ tool, port: `${port}` }),

  async holds({ tool, port }, context) {
    return isOpen(tool, port, context);
  },

  async remember({ tool, port }, context) {
    const isThere = await isOpen(readTool(tool), Number(port), context);
    return { paths: [], facts: { open: isThere ? ['yes'] : [] } };
  },

  async apply({ tool, port }, context) {
    await open(tool, port, context);
    return {};
  },

  async undo({ subject, before }, context) {
    const [tool, port] = [readTool(subject['tool']), Number(subject['port'])];
    const wasOpen = before.facts['open']?.includes('yes') === true;
    if (wasOpen === (await isOpen(tool, port, context))) return;
    await (wasOpen ? open : close)(tool, port, context);
  },

  // An upgrade that does not ask for open ports once more must not lock viewers out; behind a proxy nobody needs the agent's.
  isWanted({ subject: { port } }, names) {
    const isProxied = [paths.nginxServer, paths.nginxRoute].some((path) =>
      names.includes(`file ${path}`),
    );
    return port !== `${AGENT_PORT}` || !isProxied;
  },
};

function readTool(text: string | undefined): Tool {
  return text === 'nft' ? 'nft' : 'ufw';
}

async function isOpen(tool: Tool, port: number, machine: Machine): Promise<boolean> {
  if (tool === 'nft') return (await listOurRules(port, machine)).length > 0;
  const { stdout } = await machine.runProgram('ufw', ['show', 'added']);
  return stdout.split('\n').some((line) => line.startsWith(`ufw allow ${port}/tcp`));
}

async function open(tool: Tool, port: number, context: StepContext): Promise<void> {
  const failure = `Port ${port} could not be opened:`;
  if (tool === 'ufw') {
    await mustRun(context, failure, ['ufw', 'allow', `${port}/tcp`, 'comment', COMMENT]);
    return;
  }
  const chains = await listInputChains(context);
  if (chains.length === 0) throw new Error('The firewall has no chain for what comes in.');
  for (const { family, table, name } of chains) {
    const rule = ['tcp', 'dport', `${port}`, 'accept', 'comment', `"${COMMENT}"`];
    await mustRun(context, failure, ['nft', 'insert', 'rule', family, table, name, ...rule]);
  }
  context.tell(
    `The rule for port ${port} lasts until the firewall is loaded anew: add it to /etc/nftables.conf, too.`,
  );
}

async function close(tool: Tool, port: number, machine: Machine): Promise<void> {
  const failure = `Port ${port} could not be closed again:`;
  if (tool === 'ufw') {
    await mustRun(machine, failure, ['ufw', 'delete', 'allow', `${port}/tcp`]);
    return;
  }
  for (const { family, table, name, handle } of await listOurRules(port, machine)) {
    const place = [family, table, name, 'handle', handle];
    await mustRun(machine, failure, ['nft', 'delete', 'rule', ...place]);
  }
}

async function listInputChains(machine: Machine): Promise<Chain[]> {
  return (await listRuleset(machine)).flatMap(({ chain }) => {
    const isInput = chain?.['hook'] === 'input' && chain['type'] === 'filter';
    const hasPorts = ['inet', 'ip', 'ip6'].includes(String(chain?.['family']));
    return isInput && hasPorts && chain['policy'] !== undefined ? [readChain(chain, 'name')] : [];
  });
}

async function listOurRules(
  port: number,
  machine: Machine,
): Promise<(Chain & { readonly handle: string })[]> {
  return (await listRuleset(machine)).flatMap(({ rule }) => {
    const isOurs = rule?.['comment'] === COMMENT && isForPort(rule, port);
    return isOurs ? [{ ...readChain(rule, 'chain'), handle: String(rule['handle']) }] : [];
  });
}

/** The port stands among what a rule compares; its handle is a number, too. */
function isForPort({ expr }: Record<string, unknown>, port: number): boolean {
  return JSON.stringify(expr ?? []).includes(`"right":${port}}`);
}

function readChain(fields: Record<string, unknown>, name: string): Chain {
  return {
    family: String(fields['family']),
    table: String(fields['table']),
    name: String(fields[name]),
  };
}

type Item = Partial<Record<'chain' | 'rule', Record<string, unknown>>>;

async function listRuleset(machine: Machine): Promise<Item[]> {
  const command = ['nft', '--json', 'list', 'ruleset'];
  const { stdout } = await mustRun(machine, 'nft does not show its rules:', command);
  const ruleset: unknown = JSON.parse(stdout);
  if (typeof ruleset !== 'object' || ruleset === null || !('nftables' in ruleset)) return [];
  return Array.isArray(ruleset.nftables) ? ruleset.nftables : [];
}
