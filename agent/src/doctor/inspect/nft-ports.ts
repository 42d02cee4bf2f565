import { type Fields, parseRuleset, readFields } from '../../install/apply/nftables.ts';
import type { RunProgram } from '../../install/run-program.ts';

/** What may stand in a rule beside its verdict without making it a rule for some connections only. */
const INCIDENTAL: ReadonlySet<string> = new Set(['counter', 'log', 'limit']);

/**
 * Those of some ports that nftables may let in: any rule or set names them. Whether it does so in the end cannot be told without
 * doing what the kernel does.
 * @returns null where it refuses some connections only, and where rules came from a program that nft cannot tell of
 */
export async function listNamedPorts(
  runProgram: RunProgram,
  ports: readonly number[],
): Promise<readonly number[] | null> {
  const { code, stdout } = await runProgram('nft', ['--json', 'list', 'ruleset']);
  const items = code === 0 ? parseRuleset(stdout) : [];
  if (!items.some((item) => refusesTheRest(item, items)) || mentions(items, isForeign)) return null;
  return ports.filter((port) => mentions(items.map(readContent), (value) => isPort(value, port)));
}

/** Whether a chain for what comes in refuses what no rule of it has let in. */
function refusesTheRest(item: Fields, items: readonly Fields[]): boolean {
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

/** What a rule says and what a set holds, without the numbers that nftables itself gives them. */
function readContent({ rule, set, map }: Fields): unknown {
  const { expr } = readFields(rule);
  const telling = Array.isArray(expr) ? expr.filter((each) => !isIncidental(each)) : [];
  return [telling, readFields(set)['elem'], readFields(map)['elem']];
}

/** A counter, for one, has numbers that are no ports. */
function isIncidental(expression: unknown): boolean {
  return Object.keys(readFields(expression)).every((kind) => INCIDENTAL.has(kind));
}

/** A rule of iptables that nft cannot say in its own words. */
function isForeign(value: unknown): boolean {
  return 'xt' in readFields(value);
}

function isPort(value: unknown, port: number): boolean {
  const { range } = readFields(value);
  const [first, last] = Array.isArray(range) ? range : [];
  return value === port || (Number(first) <= port && port <= Number(last));
}

/** Whether something holds for a value or for any within it. */
function mentions(value: unknown, holds: (value: unknown) => boolean): boolean {
  if (holds(value)) return true;
  const inner = Array.isArray(value) ? value : Object.values(readFields(value));
  return inner.some((each) => mentions(each, holds));
}
