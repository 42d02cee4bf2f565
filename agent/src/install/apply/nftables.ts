import { type Machine, mustRun } from './machine.ts';

/** The comment by which our rules are known among others. */
export const COMMENT = 'latchkey-agent';

/**
 * Opens a TCP port in every chain of nftables that decides about incoming connections, unless a rule of ours does already.
 * @throws ProgramError when nft fails, and Error when there is no such chain
 */
export async function openNftPort(port: number, machine: Machine): Promise<void> {
  if ((await listRules(machine, port, COMMENT)).length > 0) return;
  const chains = await listInputChains(machine);
  if (chains.length === 0) throw new Error('The firewall has no chain for what comes in.');
  for (const { family, table, name } of chains) {
    const rule = ['tcp', 'dport', `${port}`, 'accept', 'comment', `"${COMMENT}"`];
    const command = ['nft', 'insert', 'rule', family, table, name, ...rule];
    await mustRun(machine, `Port ${port} could not be opened:`, command);
  }
}

/** A chain that decides about what comes in. */
export interface Chain {
  readonly family: string;
  readonly table: string;
  readonly name: string;
}

/** Lists the chains that decide about what comes in, and that know ports. @throws ProgramError */
async function listInputChains(machine: Machine): Promise<Chain[]> {
  return (await listRuleset(machine)).flatMap(({ chain }) => {
    const isInput = chain?.['hook'] === 'input' && chain['type'] === 'filter';
    const hasPorts = ['inet', 'ip', 'ip6'].includes(String(chain?.['family']));
    return isInput && hasPorts && chain['policy'] !== undefined ? [readChain(chain, 'name')] : [];
  });
}

/** Lists the rules with a comment that are for a TCP port. @throws ProgramError */
export async function listRules(
  machine: Machine,
  port: number,
  comment: string,
): Promise<(Chain & { readonly handle: string })[]> {
  return (await listRuleset(machine)).flatMap(({ rule }) => {
    const isMeant = rule?.['comment'] === comment && isForPort(rule, port);
    return isMeant ? [{ ...readChain(rule, 'chain'), handle: String(rule['handle']) }] : [];
  });
}

/** Whether a rule compares the port that TCP goes to with this one. */
function isForPort({ expr }: Record<string, unknown>, port: number): boolean {
  if (!Array.isArray(expr)) return false;
  return expr.some((each: unknown) => {
    const { op, left, right } = readFields(readFields(each)['match']);
    const { protocol, field } = readFields(readFields(left)['payload']);
    return op === '==' && protocol === 'tcp' && field === 'dport' && right === port;
  });
}

function readChain(fields: Record<string, unknown>, name: string): Chain {
  return {
    family: String(fields['family']),
    table: String(fields['table']),
    name: String(fields[name]),
  };
}

interface Item {
  readonly chain: Record<string, unknown> | null;
  readonly rule: Record<string, unknown> | null;
}

async function listRuleset(machine: Machine): Promise<Item[]> {
  const command = ['nft', '--json', 'list', 'ruleset'];
  const { stdout } = await mustRun(machine, 'nft does not show its rules:', command);
  const { nftables } = readFields(JSON.parse(stdout));
  if (!Array.isArray(nftables)) return [];
  return nftables.map((each: unknown) => {
    const { chain, rule } = readFields(each);
    return {
      chain: chain === undefined ? null : readFields(chain),
      rule: rule === undefined ? null : readFields(rule),
    };
  });
}

/** The fields of an object; none of anything else. */
function readFields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value))
    : {};
}
