import { join } from 'node:path';

import { readWhole } from '../../read/kernel-file.ts';
import { readText } from '../../read/small-file.ts';
import type { HostFacts } from '../facts.ts';
import type { Detection } from '../../system/run-program.ts';

/** The kernel's list of legacy iptables tables; nft does not list their rules. */
const LEGACY_TABLES = 'proc/net/ip_tables_names';

/**
 * Returns the firewall that may refuse connections. Rules of programs such as Docker refuse none. firewalld manages rules in
 * nftables, so it is checked first.
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
  // Where only legacy iptables is installed, its program is called iptables.
  const named = await runProgram('iptables-legacy', ['-S', 'INPUT']);
  const { stdout } = named.isMissing ? await runProgram('iptables', ['-S', 'INPUT']) : named;
  return /^-P INPUT DROP$|-j (?:DROP|REJECT)\b/mu.test(stdout) ? 'iptables' : 'none';
}

const DEFAULTS = '/etc/default/ufw';

/** The directories of ufw since version 0.35, and before. */
const RULE_DIRECTORIES = ['/etc/ufw', '/lib/ufw'];

/** Rules of administrators, in the format of iptables-restore. */
const OTHER_RULES = ['before.rules', 'before6.rules', 'after.rules', 'after6.rules'];

/** A comment of ufw that describes a rule: action, protocol, ports (ufw-framework(8)). */
const TUPLE = /^### tuple ### (?:allow|limit)\S* (\S+) (\S+) /gmu;

/**
 * Whether an active ufw refuses a TCP port for every source: its policy refuses, and no rule allows the port.
 * @returns false where that is uncertain
 */
export function isRefusedByUfw({ root }: Detection, port: number): boolean {
  const read = (path: string) => readWhole(join(root, '/', path), String) ?? '';
  if (!/^DEFAULT_INPUT_POLICY="?(?:DROP|REJECT)"?\s*$/mu.test(read(DEFAULTS))) return false;
  const list = (names: readonly string[]) =>
    RULE_DIRECTORIES.flatMap((directory) => names.map((name) => read(`${directory}/${name}`)));
  const rules = list(['user.rules', 'user6.rules']).join('\n');
  if (rules.trim() === '') return false;
  const named = new RegExp(String.raw`^[^#\n]*\b${port}\b`, 'mu');
  const mayBeLetIn = [...rules.matchAll(TUPLE)].some(([, protocol, ports = '']) => {
    return protocol !== 'udp' && includesPort(ports, port);
  });
  return !mayBeLetIn && !list(OTHER_RULES).some((text) => named.test(text));
}

/** Whether a rule's ports contain a port: `any`, `80`, `80,443` or `8000:8100`. */
function includesPort(ports: string, port: number): boolean {
  return ports.split(',').some((each) => {
    const [first = Number.NaN, last = first] = each.split(':').map(Number);
    return each === 'any' || (first <= port && port <= last);
  });
}
