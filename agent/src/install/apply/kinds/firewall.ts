// Ports that are opened in the active firewall.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename } from 'node:path';

import { renderPortUnit } from '../../files/units.ts';
import { paths } from '../../paths.ts';
import type { FirewallStep } from '../../steps.ts';
import { locate, type Machine, mustRun, succeeds } from '../machine.ts';
import { COMMENT, listRules, openNftPort } from '../nftables.ts';
import type { StepContext, StepKind } from '../step-kind.ts';
import { writeFile } from '../../../system/write-file.ts';

/** The ports of web servers; any other port is the agent's. */
const WEB_PORTS: ReadonlySet<string> = new Set(['80', '443']);

type Tool = FirewallStep['tool'];

/** A rule set of a tool. Opening an open port and closing a closed one changes nothing. */
interface RuleSet {
  readonly isOpen: (port: number, machine: Machine) => Promise<boolean>;
  readonly open: (port: number, machine: Machine) => Promise<void>;
  readonly close: (port: number, machine: Machine) => Promise<void>;
}

/** The rule sets of each tool. Ports are closed in this order and opened in the opposite one: a reload must not open them again. */
const RULE_SETS: Readonly<Record<Tool, Readonly<Record<string, RuleSet>>>> = {
  ufw: {
    rule: {
      isOpen: isOpenInUfw,
      open: (port, machine) =>
        change(machine, 'opened', port, ['ufw', 'allow', `${port}/tcp`, 'comment', COMMENT]),
      async close(port, machine) {
        if (!(await isOpenInUfw(port, machine))) return;
        await change(machine, 'closed', port, ['ufw', 'delete', 'allow', `${port}/tcp`]);
      },
    },
  },
  firewalld: { permanent: firewalldRules(['--permanent']), runtime: firewalldRules([]) },
  nft: {
    unit: { isOpen: isUnitEnabled, open: addUnit, close: removeUnit },
    rule: {
      isOpen: async (port, machine) => (await listRules(machine, port, COMMENT)).length > 0,
      open: openNftPort,
      async close(port, machine) {
        for (const { family, table, name, handle } of await listRules(machine, port, COMMENT)) {
          const rule = [family, table, name, 'handle', handle];
          await change(machine, 'closed', port, ['nft', 'delete', 'rule', ...rule]);
        }
      },
    },
  },
};

export const firewall: StepKind<FirewallStep> = {
  describe: ({ tool, port }) => `Open port ${port} (${tool})`,
  findSubject: ({ tool, port }) => ({ tool, port: `${port}` }),

  async isSatisfied({ tool, port }, context) {
    const open = await listOpen(tool, port, context);
    return open.length === Object.keys(RULE_SETS[tool]).length;
  },

  async capture({ tool, port }, context) {
    return { paths: [], facts: { open: await listOpen(readTool(tool), Number(port), context) } };
  },

  async apply({ tool, port }, context) {
    for (const { open } of Object.values(RULE_SETS[tool]).toReversed()) await open(port, context);
    return {};
  },

  async undo({ subject, before }, context) {
    const port = Number(subject['port']);
    for (const [name, rules] of Object.entries(RULE_SETS[readTool(subject['tool'])])) {
      if (before.facts['open']?.includes(name) !== true) await rules.close(port, context);
      else if (!(await rules.isOpen(port, context))) await rules.open(port, context);
    }
  },

  describeUndo: ({ subject }) => `Close port ${subject['port']} (${subject['tool']})`,

  // An upgrade without --open-firewall must not lock viewers out; behind a proxy the agent's port is not needed.
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

/** Returns the names of the rule sets in which a port is open. */
async function listOpen(tool: Tool, port: number, context: StepContext): Promise<string[]> {
  const open = [];
  for (const [name, rules] of Object.entries(RULE_SETS[tool])) {
    if (await rules.isOpen(port, context)) open.push(name);
  }
  return open;
}

async function isOpenInUfw(port: number, machine: Machine): Promise<boolean> {
  const { stdout } = await machine.runProgram('ufw', ['show', 'added']);
  return stdout.split('\n').some((line) => line.startsWith(`ufw allow ${port}/tcp`));
}

/** Returns the runtime rules of firewalld, or the permanent ones that replace them at a reload. */
function firewalldRules(where: readonly string[]): RuleSet {
  const command = (action: string, port: number) => [
    'firewall-cmd',
    ...where,
    `--${action}-port=${port}/tcp`,
  ];
  return {
    isOpen: (port, machine) => succeeds(machine, command('query', port)),
    open: (port, machine) => change(machine, 'opened', port, command('add', port)),
    close: (port, machine) => change(machine, 'closed', port, command('remove', port)),
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

/** The directory of the instances that systemd starts. */
const WANTED = '/etc/systemd/system/multi-user.target.wants';

const [PREFIX = ''] = basename(paths.portUnit).split('.');

/** Whether a unit opens a port in nftables at each boot. */
async function isUnitEnabled(port: number, machine: Machine): Promise<boolean> {
  if (!existsSync(locate(machine, paths.portUnit))) return false;
  return succeeds(machine, ['systemctl', 'is-enabled', '--quiet', nameUnit(port)]);
}

/** Adds the unit that opens a port in nftables at each boot, and after each load of the machine's own rules. */
async function addUnit(port: number, machine: Machine): Promise<void> {
  const owner = { mode: 0o644, uid: machine.ownerId, gid: machine.ownerId };
  writeFile(locate(machine, paths.portUnit), renderPortUnit(), owner);
  const failure = `Port ${port} could not be kept open:`;
  await mustRun(machine, failure, ['systemctl', 'daemon-reload']);
  await mustRun(machine, failure, ['systemctl', 'enable', '--quiet', nameUnit(port)]);
  // Started, so that a reload of the rules reaches it; the program may not be installed yet, and the port is already open.
  await machine.runProgram('systemctl', ['start', '--no-block', nameUnit(port)]);
}

/** Disables the unit of a port, and removes the template with the last one. */
async function removeUnit(port: number, machine: Machine): Promise<void> {
  const template = locate(machine, paths.portUnit);
  if (!existsSync(template)) return;
  await machine.runProgram('systemctl', ['disable', '--now', '--quiet', nameUnit(port)]);
  const wanted = locate(machine, WANTED);
  const others = existsSync(wanted) ? readdirSync(wanted) : [];
  if (others.some((name) => name.startsWith(PREFIX) && name !== nameUnit(port))) return;
  rmSync(template);
  await machine.runProgram('systemctl', ['daemon-reload']);
}

function nameUnit(port: number): string {
  return basename(paths.portUnit).replace('@', `@${port}`);
}
