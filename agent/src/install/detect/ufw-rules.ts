import { join } from 'node:path';

import { readWhole } from '../../read/kept-file.ts';
import type { Detection } from './detection.ts';

const DEFAULTS = '/etc/default/ufw';

/** Since ufw 0.35, and before. */
const RULE_DIRECTORIES = ['/etc/ufw', '/lib/ufw'];

/** Written by an administrator, in the language of iptables-restore. */
const OTHER_RULES = ['before.rules', 'before6.rules', 'after.rules', 'after6.rules'];

/** How ufw writes a rule above the lines for iptables: action, protocol, ports (ufw-framework(8)). */
const TUPLE = /^### tuple ### (?:allow|limit)\S* (\S+) (\S+) /gmu;

/**
 * Whether ufw, when it is active, refuses a TCP port whoever asks: its policy refuses, and no rule may let the port in.
 * @returns false where that is not certain
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

/** `any`, `80`, `80,443` or `8000:8100`. */
function includesPort(ports: string, port: number): boolean {
  return ports.split(',').some((each) => {
    const [first = Number.NaN, last = first] = each.split(':').map(Number);
    return each === 'any' || (first <= port && port <= last);
  });
}
