import type { Shape } from '#agent/watch/shape.ts';

/** A schema of the contract as the shape that the viewer holds messages to. */
export function toShape(schema: unknown): Shape {
  const type = read(schema, 'type');
  if (type === 'object') return toMembers(schema);
  if (type === 'array') return [toShape(read(schema, 'items'))];
  if (type === 'number' || type === 'integer') return 'number';
  if (type === 'boolean') return 'flag';
  const choice = read(schema, 'const') ?? read(schema, 'enum') ?? read(schema, 'anyOf');
  if (typeof choice === 'number') return 'number';
  if (type === 'string' || choice !== undefined) return 'text';
  throw new TypeError(`What shape is ${JSON.stringify(schema)}?`);
}

function toMembers(schema: unknown): Shape {
  const required = read(schema, 'required');
  const members = Object.entries(Object(read(schema, 'properties'))).map(([name, each]) => {
    const isRequired = Array.isArray(required) && required.includes(name);
    return [isRequired ? name : `${name}?`, toShape(each)];
  });
  return Object.fromEntries(members);
}

function read(value: unknown, name: string): unknown {
  return Object(value)[name];
}
