import type { AgentSnapshot } from '@latchkey/contract';
import { AgentHello, AgentSnapshotMessage } from '@latchkey/contract/agent-stream';

import { clean } from './text.ts';

/** More than a machine with a thousand cores sends. */
export const MAX_MESSAGE_BYTES = 2 * 1024 * 1024;

const HELLO_SHAPE = shapeOf(AgentHello);
const SNAPSHOT_SHAPE = shapeOf(AgentSnapshotMessage);

/** A message of an agent. */
export type Message =
  | { readonly kind: 'hello'; readonly hello: AgentHello }
  | { readonly kind: 'snapshot'; readonly snapshot: AgentSnapshot };

/**
 * Parses a message. Control characters in its texts are replaced, so that none reaches the terminal.
 * @returns null for anything but a hello or a snapshot of this version
 */
export function readMessage(text: string): Message | null {
  const value = parse(text);
  if (isHello(value)) return { kind: 'hello', hello: value };
  if (isSnapshot(value)) return { kind: 'snapshot', snapshot: value.snapshot };
  return null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text, (_name, value: unknown) =>
      typeof value === 'string' ? clean(value) : value,
    );
  } catch {
    // Not JSON, or nested too deeply for the stack.
    return null;
  }
}

function isHello(value: unknown): value is AgentHello {
  return (
    hasType(value, 'hello') &&
    hasShape(value, HELLO_SHAPE) &&
    'schema_version' in value &&
    value.schema_version === 1
  );
}

function isSnapshot(value: unknown): value is AgentSnapshotMessage {
  return hasType(value, 'snapshot') && hasShape(value, SNAPSHOT_SHAPE);
}

function hasType(value: unknown, type: string): value is object {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === type;
}

/** The type of a JSON value; `?` at the end of a name marks an optional member, and unknown members are allowed. */
type Shape = 'text' | 'number' | 'flag' | readonly [Shape] | { readonly [name: string]: Shape };

/** More than any machine has of anything. */
const MAX_ITEMS = 4096;

/**
 * Derives the shape from a schema of the contract. It keeps types and names and drops ranges, formats and choices, so that
 * values of a later agent pass.
 * @throws TypeError for a schema of an unknown kind
 */
function shapeOf(schema: unknown): Shape {
  const type = get(schema, 'type');
  if (type === 'object') return shapeOfMembers(schema);
  if (type === 'array') return [shapeOf(get(schema, 'items'))];
  if (type === 'number' || type === 'integer') return 'number';
  if (type === 'boolean') return 'flag';
  const choice = get(schema, 'const') ?? get(schema, 'enum') ?? get(schema, 'anyOf');
  if (typeof choice === 'number') return 'number';
  if (type === 'string' || choice !== undefined) return 'text';
  throw new TypeError(`The schema ${JSON.stringify(schema)} has no shape.`);
}

function shapeOfMembers(schema: unknown): Shape {
  const required = get(schema, 'required');
  const members = Object.entries(Object(get(schema, 'properties'))).map(([name, each]) => {
    const isRequired = Array.isArray(required) && required.includes(name);
    return [isRequired ? name : `${name}?`, shapeOf(each)];
  });
  return Object.fromEntries(members);
}

function get(value: unknown, name: string): unknown {
  return Object(value)[name];
}

/** Checks whether a JSON value has a shape. */
function hasShape(value: unknown, shape: Shape): boolean {
  if (shape === 'text') return typeof value === 'string';
  if (shape === 'number') return typeof value === 'number' && Number.isFinite(value);
  if (shape === 'flag') return typeof value === 'boolean';
  if (isList(shape)) return isListOf(value, shape[0]);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const members = new Map<string, unknown>(Object.entries(value));
  return Object.entries(shape).every(([name, each]) => hasMember(members, name, each));
}

function hasMember(members: ReadonlyMap<string, unknown>, name: string, shape: Shape): boolean {
  if (!name.endsWith('?')) return hasShape(members.get(name), shape);
  const value = members.get(name.slice(0, -1));
  return value === undefined || hasShape(value, shape);
}

function isListOf(value: unknown, shape: Shape): boolean {
  if (!Array.isArray(value) || value.length > MAX_ITEMS) return false;
  return value.every((each: unknown) => hasShape(each, shape));
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}
