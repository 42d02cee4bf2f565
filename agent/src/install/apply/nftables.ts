import { type Machine, mustRun } from './machine.ts';

/** The comment that marks the agent's rules. */
export const COMMENT = 'latchkey-agent';

/**
 * Opens a TCP port in every input chain of nftables, unless a rule of the agent does.
 * @throws ProgramError when nft fails, and Error when there is no such chain
 */
export async function openNftPort(port: number, machine: Machine): Promise<void> {
  if ((await listRules(machine, port, COMMENT)).length > 0) return;
  const chains = await listInputChains(machine);
  if (chains.length === 0) throw new Error('The firewall has no input chain.');
  for (const { family, table, name } of chains) {
    const rule = ['tcp', 'dport', `${port}`, 'accept', 'comment', `"${COMMENT}"`];
    const command = ['nft', 'insert', 'rule', family, table, name, ...rule];
    await mustRun(machine, `Port ${port} could not be opened:`, command);
  }
}

/** A chain of the input hook. */
export interface Chain {
  readonly family: string;
  readonly table: string;
  readonly name: string;
}

/** Returns the input chains of families with ports. @throws ProgramError */
async function listInputChains(machine: Machine): Promise<Chain[]> {
  return (await listRuleset(machine)).flatMap((item) => {
    const chain = readFields(item['chain']);
    const isInput = chain['hook'] === 'input' && chain['type'] === 'filter';
    const hasPorts = ['inet', 'ip', 'ip6'].includes(String(chain['family']));
    return isInput && hasPorts && chain['policy'] !== undefined ? [readChain(chain, 'name')] : [];
  });
}

/** Returns the rules for a TCP port with a comment. @throws ProgramError */
export async function listRules(
  machine: Machine,
  port: number,
  comment: string,
): Promise<(Chain & { readonly handle: string })[]> {
  return (await listRuleset(machine)).flatMap((item) => {
    const rule = readFields(item['rule']);
    const isOurs = rule['comment'] === comment && isForPort(rule, port);
    return isOurs ? [{ ...readChain(rule, 'chain'), handle: String(rule['handle']) }] : [];
  });
}

/** Whether a rule matches this destination port of TCP. */
function isForPort({ expr }: Fields, port: number): boolean {
  if (!Array.isArray(expr)) return false;
  return expr.some((each: unknown) => {
    const { op, left, right } = readFields(readFields(each)['match']);
    const { protocol, field } = readFields(readFields(left)['payload']);
    return op === '==' && protocol === 'tcp' && field === 'dport' && right === port;
  });
}

function readChain(fields: Fields, name: string): Chain {
  return {
    family: String(fields['family']),
    table: String(fields['table']),
    name: String(fields[name]),
  };
}

/** An object that nft printed. */
export type Fields = Readonly<Record<string, unknown>>;

async function listRuleset(machine: Machine): Promise<readonly Fields[]> {
  const command = ['nft', '--json', 'list', 'ruleset'];
  const { stdout } = await mustRun(machine, 'nft could not list its rules:', command);
  return parseRuleset(stdout);
}

/** Parses the output of `nft --json list ruleset`: objects with one field, which names their kind. */
export function parseRuleset(text: string): readonly Fields[] {
  const { nftables } = readFields(JSON.parse(text));
  return Array.isArray(nftables) ? nftables.map(readFields) : [];
}

/** Returns the fields of an object; none for other values. */
export function readFields(value: unknown): Fields {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? Object.fromEntries(Object.entries(value)) : {};
}
