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

/** One place where a tool keeps an open port. Opening an open port and closing a closed one changes nothing. */
interface Place {
  readonly isOpen: (port: number, machine: Machine) => Promise<boolean>;
  readonly open: (port: number, machine: Machine) => Promise<void>;
  readonly close: (port: number, machine: Machine) => Promise<void>;
}

/** The places of each tool. Ports are closed in this order and opened in the opposite one: a reload must not open them again. */
const PLACES: Readonly<Record<Tool, Readonly<Record<string, Place>>>> = {
  ufw: {
    rule: {
      isOpen: isOpenInUfw,
      open: (port, machine) =>
        change(machine, 'opened', port, ['ufw', 'allow', `${port}/tcp`, 'comment', COMMENT]),
      async close(port, machine) {
        if (!(await isOpenInUfw(port, machine))) return;
        await change(machine, 'closed again', port, ['ufw', 'delete', 'allow', `${port}/tcp`]);
      },
    },
  },
  firewalld: { permanent: firewalldPlace(['--permanent']), runtime: firewalldPlace([]) },
  nft: {
    unit: { isOpen: isKeptOpen, open: keepOpen, close: forgetPort },
    rule: {
      isOpen: async (port, machine) => (await listRules(machine, port, COMMENT)).length > 0,
      open: openNftPort,
      async close(port, machine) {
        for (const { family, table, name, handle } of await listRules(machine, port, COMMENT)) {
          const rule = [family, table, name, 'handle', handle];
          await change(machine, 'closed again', port, ['nft', 'delete', 'rule', ...rule]);
        }
      },
    },
  },
};

export const firewall: StepKind<FirewallStep> = {
  outlivesPlans: false,
  describe: ({ tool, port }) => `Open port ${port} (${tool})`,
  findSubject: ({ tool, port }) => ({ tool, port: `${port}` }),

  async holds({ tool, port }, context) {
    const open = await listOpen(tool, port, context);
    return open.length === Object.keys(PLACES[tool]).length;
  },

  async remember({ tool, port }, context) {
    return { paths: [], facts: { open: await listOpen(readTool(tool), Number(port), context) } };
  },

  async apply({ tool, port }, context) {
    for (const { open } of Object.values(PLACES[tool]).toReversed()) await open(port, context);
    return {};
  },

  async undo({ subject, before }, context) {
    const port = Number(subject['port']);
    for (const [name, place] of Object.entries(PLACES[readTool(subject['tool'])])) {
      if (before.facts['open']?.includes(name) !== true) await place.close(port, context);
      else if (!(await place.isOpen(port, context))) await place.open(port, context);
    }
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

/** Returns the names of the places where a port is open. */
async function listOpen(tool: Tool, port: number, context: StepContext): Promise<string[]> {
  const open = [];
  for (const [name, place] of Object.entries(PLACES[tool])) {
    if (await place.isOpen(port, context)) open.push(name);
  }
  return open;
}

async function isOpenInUfw(port: number, machine: Machine): Promise<boolean> {
  const { stdout } = await machine.runProgram('ufw', ['show', 'added']);
  return stdout.split('\n').some((line) => line.startsWith(`ufw allow ${port}/tcp`));
}

/** The runtime configuration of firewalld, or the permanent one that replaces it at a reload. */
function firewalldPlace(where: readonly string[]): Place {
  const command = (action: string, port: number) => [
    'firewall-cmd',
    ...where,
    `--${action}-port=${port}/tcp`,
  ];
  return {
    isOpen: (port, machine) => succeeds(machine, command('query', port)),
    open: (port, machine) => change(machine, 'opened', port, command('add', port)),
    close: (port, machine) => change(machine, 'closed again', port, command('remove', port)),
  };
}

/** @throws ProgramError when the command fails */
async function change(
  machine: Machine,
  what: string,
  port: number,
  command: readonly string[],
): Promise<void> {
  await mustRun(machine, `Port ${port} could not be ${what}:`, command);
}
