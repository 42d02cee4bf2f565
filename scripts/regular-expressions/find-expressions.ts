import { Visitor, type ESTree } from 'rolldown/utils';

import { evaluateText, type Module } from './constants.ts';

/** A regular expression of the source. */
export interface FoundExpression {
  readonly source: string;
  readonly flags: string;
  /** The file and the line: `agent/src/x.ts:12`. */
  readonly place: string;
}

/** An expression that is built from values that only the running program has. */
export interface BuiltExpression {
  readonly path: string;
  /** What it is built from, as written. */
  readonly argument: string;
}

export interface FoundExpressions {
  readonly constant: readonly FoundExpression[];
  readonly built: readonly BuiltExpression[];
}

/** The flag with which validators of JSON Schema compile a `pattern` (JSON Schema core, section 6.4). */
const PATTERN_FLAGS = 'u';

/** Methods that build an expression of a text. */
const BUILDING_METHODS = new Set(['match', 'matchAll', 'search']);

/**
 * Finds the regular expressions of a module: literals, `RegExp(…)`, texts in `match(…)`, `matchAll(…)` and `search(…)`, and the member
 * `pattern` of objects, as in JSON Schema.
 */
export function findExpressions(module: Module): FoundExpressions {
  const constant: FoundExpression[] = [];
  const built: BuiltExpression[] = [];
  const add = (node: ESTree.Node, flags: string) => {
    const source = evaluateText(node, module);
    if (source === null) {
      built.push({ path: module.path, argument: textOf(node, module) });
    } else {
      constant.push({ source, flags, place: `${module.path}:${lineOf(node, module)}` });
    }
  };
  const addBuilt = ({ arguments: [source, flags] }: ESTree.CallExpression | ESTree.NewExpression) =>
    source !== undefined &&
    add(source, flags === undefined ? '' : (evaluateText(flags, module) ?? ''));
  new Visitor({
    Literal: (node) => 'regex' in node && add(node, node.regex.flags),
    NewExpression: (node) => isRegExp(node.callee) && addBuilt(node),
    CallExpression: (node) => {
      if (isRegExp(node.callee)) addBuilt(node);
      const [text] = node.arguments;
      if (isMethod(node.callee, BUILDING_METHODS) && isText(text)) add(text, '');
    },
    Property: ({ key, value, shorthand }) =>
      isNamed(key, 'pattern') && !shorthand && !('regex' in value) && add(value, PATTERN_FLAGS),
  }).visit(module.program);
  return { constant, built };
}

function isRegExp(callee: ESTree.Node): boolean {
  return callee.type === 'Identifier' && callee.name === 'RegExp';
}

/** Whether a member has a name, with or without quotes. */
function isNamed(key: ESTree.Node, name: string): boolean {
  return key.type === 'Identifier'
    ? key.name === name
    : key.type === 'Literal' && key.value === name;
}

function isMethod(callee: ESTree.Node, names: ReadonlySet<string>): boolean {
  return (
    callee.type === 'MemberExpression' &&
    callee.property.type === 'Identifier' &&
    names.has(callee.property.name)
  );
}

function isText(node: ESTree.Node | undefined): node is ESTree.Node {
  return (
    node !== undefined &&
    (node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string'))
  );
}

function textOf({ start, end }: ESTree.Node, { text }: Module): string {
  return text.slice(start, end);
}

function lineOf({ start }: ESTree.Node, { text }: Module): number {
  return text.slice(0, start).split('\n').length;
}
