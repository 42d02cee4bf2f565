import { type Machine, mustRun } from './machine.ts';
import { listInputChains, listRules } from './nft-ruleset.ts';

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
