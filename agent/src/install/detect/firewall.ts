import { join } from 'node:path';

import { readText } from '../../read/small-file.ts';
import type { HostFacts } from '../facts.ts';
import type { Detection } from './detection.ts';

/** Lists the tables of legacy iptables that are loaded; nft does not list their rules. */
const LEGACY_TABLES = 'proc/net/ip_tables_names';

/**
 * Returns the firewall that may keep viewers away. Programs such as Docker have rules, too, which refuse nobody. firewalld
 * has rules in nftables, which it replaces at each reload, so it is asked first.
 */
export async function detectFirewall({
  root,
  runProgram,
}: Detection): Promise<HostFacts['firewall']> {
  const ufw = await runProgram('ufw', ['status']);
  if (/^Status: active$/mu.test(ufw.stdout)) return 'ufw';
  const firewalld = await runProgram('firewall-cmd', ['--state']);
  if (firewalld.code === 0 && /^running$/mu.test(firewalld.stdout)) return 'firewalld';
  const { stdout: rules } = await runProgram('nft', ['list', 'ruleset']);
  const refuses = /\bhook input\b/u.test(rules) && /\b(?:drop|reject)\b/u.test(rules);
  if (refuses) return 'nft';
  const tables = readText(join(root, '/', LEGACY_TABLES)) ?? '';
  if (!/^filter$/mu.test(tables)) return 'none';
  // The name of the legacy program differs; where there is one alone, it is iptables.
  const named = await runProgram('iptables-legacy', ['-S', 'INPUT']);
  const { stdout } = named.isMissing ? await runProgram('iptables', ['-S', 'INPUT']) : named;
  return /^-P INPUT DROP$|-j (?:DROP|REJECT)\b/mu.test(stdout) ? 'iptables' : 'none';
}
