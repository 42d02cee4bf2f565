import { type Fields, parseRuleset, readFields } from '../../install/apply/nftables.ts';
import type { RunProgram } from '../../system/run-program.ts';

/** Expressions that do not restrict a rule to some connections. */
const INCIDENTAL: ReadonlySet<string> = new Set(['counter', 'log', 'limit']);

/**
 * Returns the ports that nftables may allow, because a rule or set contains them; the rules are not evaluated.
 * @returns null where it refuses only some connections, and where nft cannot show the rules of another program
 */
export async function listNamedPorts(
  runProgram: RunProgram,
  ports: readonly number[],
): Promise<readonly number[] | null> {
  const { code, stdout } = await runProgram('nft', ['--json', 'list', 'ruleset']);
  const items = code === 0 ? parseRuleset(stdout) : [];
  if (!items.some((item) => deniesByDefault(item, items)) || mentions(items, isForeign))
    return null;
  return ports.filter((port) => mentions(items.map(readContent), (value) => isPort(value, port)));
}

/** Whether an input chain refuses connections that no rule allows. */
function deniesByDefault(item: Fields, items: readonly Fields[]): boolean {
  const chain = readFields(item['chain']);
  if (chain['hook'] !== 'input' || chain['type'] !== 'filter') return false;
  const isRefusing = items.some((each) => {
    const rule = readFields(each['rule']);
    const isIn = ['family', 'table'].every((name) => rule[name] === chain[name]);
    return isIn && rule['chain'] === chain['name'] && refusesAll(rule['expr']);
  });
  return chain['policy'] === 'drop' || isRefusing;
}

function refusesAll(expressions: unknown): boolean {
  if (!Array.isArray(expressions)) return false;
  const [only, ...others] = expressions.filter((each) => !isIncidental(each)).map(readFields);
  return only !== undefined && others.length === 0 && ('drop' in only || 'reject' in only);
}

/** Returns the content of a rule or set, without the numbers that nftables assigns. */
function readContent({ rule, set, map }: Fields): unknown {
  const { expr } = readFields(rule);
  const restricting = Array.isArray(expr) ? expr.filter((each) => !isIncidental(each)) : [];
  return [restricting, readFields(set)['elem'], readFields(map)['elem']];
}

/** Whether an expression does not restrict a rule; the numbers of a counter are not ports. */
function isIncidental(expression: unknown): boolean {
  return Object.keys(readFields(expression)).every((kind) => INCIDENTAL.has(kind));
}

/** Whether it is a rule of iptables that nft cannot show. */
function isForeign(value: unknown): boolean {
  return 'xt' in readFields(value);
}

function isPort(value: unknown, port: number): boolean {
  const { range } = readFields(value);
  const [first, last] = Array.isArray(range) ? range : [];
  return value === port || (Number(first) <= port && port <= Number(last));
}

/** Whether a predicate is true for a value or for any nested value. */
function mentions(value: unknown, holds: (value: unknown) => boolean): boolean {
  if (holds(value)) return true;
  const inner = Array.isArray(value) ? value : Object.values(readFields(value));
  return inner.some((each) => mentions(each, holds));
}
