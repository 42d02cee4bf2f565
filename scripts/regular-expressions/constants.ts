import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { parseSync, type ESTree } from 'rolldown/utils';

import { repository } from '../lib/steps.ts';

/** A name of another module. */
interface Imported {
  readonly path: string;
  readonly name: string;
}

/** A parsed source, with what its names stand for. */
export interface Module {
  /** Relative to the repository. */
  readonly path: string;
  readonly text: string;
  readonly program: ESTree.Program;
  readonly constants: ReadonlyMap<string, ESTree.Expression>;
  readonly imports: ReadonlyMap<string, Imported>;
}

const parsed = new Map<string, Module>();

/** Parses a source once. @param path relative to the repository @throws Error if it is no valid TypeScript */
export function readModule(path: string): Module {
  const known = parsed.get(path);
  if (known !== undefined) return known;
  const module = parseModule(path, readFileSync(join(repository, path), 'utf8'));
  parsed.set(path, module);
  return module;
}

/** @throws Error if the text is no valid TypeScript */
export function parseModule(path: string, text: string): Module {
  const { program, errors } = parseSync(path, text);
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`);
  const statements = program.body.map((statement) =>
    statement.type === 'ExportNamedDeclaration' && statement.declaration !== null
      ? statement.declaration
      : statement,
  );
  return {
    path,
    text,
    program,
    constants: new Map(statements.flatMap(listConstants)),
    imports: new Map(statements.flatMap((statement) => listImports(path, statement))),
  };
}

function listConstants(statement: ESTree.Statement): [string, ESTree.Expression][] {
  if (statement.type !== 'VariableDeclaration' || statement.kind !== 'const') return [];
  return statement.declarations.flatMap(({ id, init }) =>
    id.type === 'Identifier' && init !== null ? [[id.name, init]] : [],
  );
}

function listImports(path: string, statement: ESTree.Statement): [string, Imported][] {
  if (statement.type !== 'ImportDeclaration') return [];
  const target = resolveImport(path, statement.source.value);
  if (target === null) return [];
  return statement.specifiers.flatMap((specifier) =>
    specifier.type === 'ImportSpecifier' && specifier.imported.type === 'Identifier'
      ? [[specifier.local.name, { path: target, name: specifier.imported.name }]]
      : [],
  );
}

function resolveImport(path: string, specifier: string): string | null {
  const target = specifier.startsWith('#server/')
    ? join('server/src', specifier.slice('#server/'.length))
    : join(dirname(path), specifier);
  const isOwn = /^(?:\.|#server\/)/u.test(specifier) && specifier.endsWith('.ts');
  return isOwn && existsSync(join(repository, target)) ? target : null;
}

/** Returns the text that an expression always has, or that of the regular expression that it is; null if neither is known. */
export function evaluateText(expression: ESTree.Node, module: Module): string | null {
  if (expression.type === 'Literal') {
    return 'regex' in expression ? expression.regex.pattern : String(expression.value);
  }
  if (expression.type === 'TemplateLiteral') {
    return evaluateTemplate(expression, module, ({ value }) => value.cooked);
  }
  if (expression.type === 'TaggedTemplateExpression') {
    const tag = module.text.slice(expression.tag.start, expression.tag.end);
    const isRaw = tag === 'String.raw';
    return isRaw ? evaluateTemplate(expression.quasi, module, ({ value }) => value.raw) : null;
  }
  if (expression.type === 'BinaryExpression' && expression.operator === '+') {
    return evaluateSum(expression.left, expression.right, module);
  }
  if (expression.type === 'Identifier') return evaluateName(expression.name, module);
  if (expression.type === 'CallExpression') return evaluateJoin(expression, module);
  return expression.type === 'MemberExpression' ? evaluateSource(expression, module) : null;
}

/** `EXPRESSION.source` */
function evaluateSource(
  { object, property }: ESTree.MemberExpression,
  module: Module,
): string | null {
  const isSource = property.type === 'Identifier' && property.name === 'source';
  return isSource ? evaluateText(object, module) : null;
}

function evaluateTemplate(
  { quasis, expressions }: ESTree.TemplateLiteral,
  module: Module,
  read: (quasi: ESTree.TemplateElement) => string | null,
): string | null {
  const values = expressions.map((each) => evaluateText(each, module));
  const parts = quasis.flatMap((quasi, index) => [
    read(quasi),
    ...(index < values.length ? [values[index] ?? null] : []),
  ]);
  return joinKnown(parts, '');
}

/** A sum of numbers is no text. */
function evaluateSum(left: ESTree.Node, right: ESTree.Node, module: Module): string | null {
  if (isNumber(left) && isNumber(right)) return null;
  return joinKnown([evaluateText(left, module), evaluateText(right, module)], '');
}

function evaluateName(name: string, module: Module): string | null {
  const own = module.constants.get(name);
  if (own !== undefined) return evaluateText(own, module);
  const imported = module.imports.get(name);
  return imported === undefined ? null : evaluateName(imported.name, readModule(imported.path));
}

/** `[a, b].join('|')` of constants */
function evaluateJoin(call: ESTree.CallExpression, module: Module): string | null {
  const { callee } = call;
  const [separator] = call.arguments;
  if (callee.type !== 'MemberExpression' || separator === undefined) return null;
  if (callee.property.type !== 'Identifier' || callee.property.name !== 'join') return null;
  const list = listElements(callee.object, module);
  const between = evaluateText(separator, module);
  return list === null || between === null ? null : joinKnown(list, between);
}

function listElements(expression: ESTree.Node, module: Module): (string | null)[] | null {
  if (expression.type === 'Identifier') {
    const constant = module.constants.get(expression.name);
    return constant === undefined ? null : listElements(constant, module);
  }
  if (expression.type === 'TSAsExpression') return listElements(expression.expression, module);
  if (expression.type !== 'ArrayExpression') return null;
  return expression.elements.map((each) => (each === null ? null : evaluateText(each, module)));
}

function joinKnown(parts: readonly (string | null)[], separator: string): string | null {
  return parts.every((part) => part !== null) ? parts.join(separator) : null;
}

function isNumber(expression: ESTree.Node): boolean {
  return expression.type === 'Literal' && typeof expression.value === 'number';
}
