import type { ValidationError } from '@latchkey/contract';
import { nameOf, namedSchemas } from '@latchkey/contract';
import type { TSchema } from 'typebox';

import { isRecord } from '#server/lib/is-record.ts';

import {
  type Fault,
  findBooleanFault,
  findStringFault,
  missing,
  notAList,
  notAMap,
  notAnObject,
  notOneOf,
  tooLong,
  tooShort,
} from './faults.ts';

type Loc = ValidationError['loc'];

/** The keywords of JSON Schema that the contract's requests use. */
interface SchemaNode {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly maxLength?: number;
  readonly enum?: readonly (string | null)[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | SchemaNode;
  readonly items?: SchemaNode;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** The maximum number of faults in a response. */
export const MAX_FAULTS = 100;

const schemasByRef = new Map<string, TSchema>();
for (const schema of namedSchemas) schemasByRef.set(`${nameOf(schema)}#`, schema);

/**
 * Lists the faults of `value` in the order of the schema's fields: one item per fault, at most `MAX_FAULTS`.
 * Walks only as far as it takes to fill the answer, however large the value.
 * @param schema a schema of the contract, or a reference to one.
 * @param loc where the value is, such as `['body']`.
 */
export function explain(schema: TSchema, value: unknown, loc: Loc): ValidationError[] {
  const faults: ValidationError[] = [];
  visit(schema, value, loc, faults);
  return faults;
}

function visit(node: SchemaNode, value: unknown, loc: Loc, faults: ValidationError[]): void {
  if (faults.length >= MAX_FAULTS) return;
  if (node.$ref !== undefined) {
    const target = schemasByRef.get(node.$ref);
    if (target !== undefined) visit(target, value, loc, faults);
    return;
  }
  if (value === null && Array.isArray(node.type) && node.type.includes('null')) return;
  if (node.enum === undefined) visitType(node, value, loc, faults);
  else report(findEnumFault(node.enum, value), loc, faults);
}

function visitType(node: SchemaNode, value: unknown, loc: Loc, faults: ValidationError[]): void {
  switch (typeof node.type === 'string' ? node.type : (node.type?.[0] ?? '')) {
    case 'object':
      if (node.properties === undefined) visitMap(node, value, loc, faults);
      else visitModel(node.properties, node.required ?? [], value, loc, faults);
      return;
    case 'array':
      visitList(node, value, loc, faults);
      return;
    case 'boolean':
      report(findBooleanFault(value), loc, faults);
      return;
    case 'string':
      report(findStringFault(value, node.format, node.maxLength), loc, faults);
      return;
    default:
  }
}

function visitModel(
  properties: Readonly<Record<string, SchemaNode>>,
  required: readonly string[],
  value: unknown,
  loc: Loc,
  faults: ValidationError[],
): void {
  if (!isRecord(value)) {
    report(notAnObject, loc, faults);
    return;
  }
  for (const [name, node] of Object.entries(properties)) {
    const inner = Object.hasOwn(value, name) ? value[name] : undefined;
    if (inner !== undefined) visit(node, inner, [...loc, name], faults);
    else if (required.includes(name)) report(missing, [...loc, name], faults);
  }
}

function visitMap(node: SchemaNode, value: unknown, loc: Loc, faults: ValidationError[]): void {
  if (!isRecord(value)) {
    report(notAMap, loc, faults);
    return;
  }
  if (typeof node.additionalProperties !== 'object') return;
  for (const [key, inner] of Object.entries(value)) {
    if (faults.length >= MAX_FAULTS) return;
    report(findStringFault(key, 'text'), [...loc, key], faults);
    visit(node.additionalProperties, inner, [...loc, key], faults);
  }
}

function visitList(node: SchemaNode, value: unknown, loc: Loc, faults: ValidationError[]): void {
  if (!Array.isArray(value)) {
    report(notAList, loc, faults);
    return;
  }
  if (node.maxItems !== undefined && value.length > node.maxItems) {
    report(tooLong(node.maxItems, value.length), loc, faults);
    return;
  }
  if (node.minItems !== undefined && value.length < node.minItems) {
    report(tooShort(node.minItems, value.length), loc, faults);
    return;
  }
  if (node.items === undefined) return;
  for (const [index, item] of value.entries()) {
    if (faults.length >= MAX_FAULTS) return;
    visit(node.items, item, [...loc, index], faults);
  }
}

function findEnumFault(words: readonly (string | null)[], value: unknown): Fault | undefined {
  if (words.some((word) => word === value)) return undefined;
  return notOneOf(words.filter((word) => word !== null));
}

function report(fault: Fault | undefined, loc: Loc, faults: ValidationError[]): void {
  if (fault === undefined || faults.length >= MAX_FAULTS) return;
  faults.push({ loc, msg: fault.msg, type: fault.type });
}
