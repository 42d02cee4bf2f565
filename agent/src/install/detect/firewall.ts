import type { HostFacts } from '../facts.ts';
import type { Detection } from './detection.ts';

/** Whether a firewall may keep viewers away. Programs such as Docker have rules, too, which refuse nobody. */
export async function detectFirewall({ runProgram }: Detection): Promise<HostFacts['firewall']> {
  const ufw = await runProgram('ufw', ['status']);
  if (/^Status: active$/mu.test(ufw.stdout)) return 'ufw';
  const { stdout: rules } = await runProgram('nft', ['list', 'ruleset']);
  const refuses = /\bhook input\b/u.test(rules) && /\b(?:drop|reject)\b/u.test(rules);
  return refuses ? 'nft' : 'none';
}
