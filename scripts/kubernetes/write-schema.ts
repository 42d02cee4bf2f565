/**
 * Writes `schema.json`, with which a test validates the manifests of deploy/kubernetes:
 *
 *     go mod download -json k8s.io/kubernetes@v1.25.16
 *     node scripts/kubernetes/write-schema.ts v1.25.16 <"Dir" of the output>/api/openapi-spec/swagger.json
 *
 * 1.25 is the oldest version that docs/operations/kubernetes.md names. Versions of an interface that is stable (`v1`) only get more
 * fields, so a manifest that is valid for it is valid for every later one.
 */
import { readFileSync, writeFileSync } from 'node:fs';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { isRecord } from '#server/lib/unknown-values.ts';

import { MANIFEST_TYPES } from './manifest-types.ts';

const Document = Type.Object({
  definitions: Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown())),
});

/** Keywords that constrain a value; the others describe it, or are Kubernetes' own. */
const KEYWORDS = new Set(['type', 'enum', 'format', 'items', 'oneOf', 'required', '$ref']);

/** Types that accept more than their definition says. */
const LENIENT: Readonly<Record<string, unknown>> = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { type: ['string', 'integer'] },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { type: ['string', 'number'] },
};

/** Returns the schema without descriptions; an object accepts no other properties than its own. */
function toStrict(schema: unknown): unknown {
  if (!isRecord(schema)) return schema;
  const kept = Object.entries(schema).filter(([name]) => KEYWORDS.has(name));
  const strict: Record<string, unknown> = Object.fromEntries(kept);
  if (typeof schema['$ref'] === 'string') {
    strict['$ref'] = schema['$ref'].replace('#/definitions/', '#/$defs/');
  }
  if ('items' in schema) strict['items'] = toStrict(schema['items']);
  if (isRecord(schema['properties'])) {
    const properties = Object.entries(schema['properties']);
    strict['properties'] = Object.fromEntries(
      properties.map(([name, value]) => [name, toStrict(value)]),
    );
    strict['additionalProperties'] = false;
  } else if ('additionalProperties' in schema) {
    strict['additionalProperties'] = toStrict(schema['additionalProperties']);
  }
  return strict;
}

/** Returns the definitions that the manifests need, by their names. */
function collect(definitions: Readonly<Record<string, unknown>>): Map<string, unknown> {
  const found = new Map<string, unknown>();
  const names = Object.values(MANIFEST_TYPES);
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    if (found.has(name)) continue;
    const schema = LENIENT[name] ?? toStrict(definitions[name]);
    found.set(name, schema);
    for (const [, next = ''] of JSON.stringify(schema).matchAll(/"#\/\$defs\/([^"]+)"/g)) {
      names.push(next);
    }
  }
  return found;
}

const [version = '', file = ''] = process.argv.slice(2);
const { definitions } = Parse(Document, JSON.parse(readFileSync(file, 'utf8')));
const found = [...collect(definitions)].sort(([left], [right]) => (left < right ? -1 : 1));
const lines = found.map(([name, schema]) => `${JSON.stringify(name)}: ${JSON.stringify(schema)}`);
const source = `k8s.io/kubernetes ${version}, api/openapi-spec/swagger.json (Apache License 2.0), written by write-schema.ts`;
writeFileSync(
  new URL('schema.json', import.meta.url),
  `{"$comment": ${JSON.stringify(source)},\n"$defs": {\n${lines.join(',\n')}\n}}\n`,
);
