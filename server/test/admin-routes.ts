/** The registered operations of the operator interface, with requests that they accept. */
import assert from 'node:assert/strict';

import { namedSchemas, nameOf } from '@latchkey/contract';
import type { FastifyContextConfig, RouteOptions } from 'fastify';
import type { TSchema } from 'typebox';

import type { OperatorAccess } from '#server/http/require-operator.ts';

export interface Operation {
  readonly method: 'GET' | 'POST';
  /** Its path with parameters, such as `:id`. */
  readonly route: string;
  /** With an id that nothing has, and the required parameters of the query. */
  readonly path: string;
  readonly access: OperatorAccess | 'public' | 'callback' | undefined;
  readonly databaseSlots: FastifyContextConfig['databaseSlots'];
  /** With the required members. */
  readonly body: unknown;
  /** Whether it reads a body. */
  readonly takesBody: boolean;
  /** With all members. */
  readonly fullBody: unknown;
}

export function isAdminRoute({ url }: RouteOptions): boolean {
  return url.startsWith('/api/v1/admin/');
}

/** Returns the operations of a route, each with a valid path, query and body. */
export function describeOperations(route: RouteOptions): Operation[] {
  const methods = [route.method].flat().filter((method) => method !== 'HEAD');
  return methods.map((method) => describeOperation(method, route));
}

function describeOperation(method: string, { url, config, schema }: RouteOptions): Operation {
  assert.ok(method === 'GET' || method === 'POST', `${method} ${url}`);
  const path = url.replaceAll(/:\w+/g, '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d');
  return {
    method,
    route: url,
    path: path + queryOf(schema?.querystring),
    access: config?.access,
    databaseSlots: config?.databaseSlots,
    body: exampleOf(schema?.body),
    takesBody: schema?.body !== undefined,
    fullBody: exampleOf(schema?.body, true),
  };
}

interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
}

/** Builds a valid value of a schema from the examples of its fields. @param isFull whether it has optional members, too */
function exampleOf(schema: unknown, isFull = false): unknown {
  if (!isSchema(schema)) return {};
  if (schema.$ref !== undefined) return exampleOf(findSchema(schema.$ref), isFull);
  if (schema.examples !== undefined) return schema.examples[0];
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.properties !== undefined) {
    const { required = [], properties } = schema;
    const names = isFull ? Object.keys(properties) : required;
    return Object.fromEntries(names.map((name) => [name, exampleOf(properties[name], isFull)]));
  }
  const [type] = [schema.type ?? 'object'].flat();
  const empty: Readonly<Record<string, unknown>> = { integer: 1, boolean: true, string: 'x' };
  return type === 'array' ? [exampleOf(schema.items, isFull)] : (empty[type ?? ''] ?? {});
}

/** Returns a valid query: its required parameters, from the examples of the schema. */
function queryOf(schema: unknown): string {
  const example = exampleOf(schema);
  if (typeof example !== 'object' || example === null) return '';
  const pairs = Object.entries(example).map(([name, value]) => [name, String(value)]);
  return pairs.length === 0 ? '' : `?${new URLSearchParams(Object.fromEntries(pairs)).toString()}`;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null;
}

function findSchema(reference: string): TSchema | undefined {
  return namedSchemas.find((schema) => `${nameOf(schema)}#` === reference);
}
