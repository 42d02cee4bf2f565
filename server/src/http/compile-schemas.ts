import AjvCompiler from '@fastify/ajv-compiler';
import SerializerSelector from '@fastify/fast-json-stringify-compiler';
import {
  isStorableText,
  isUuid,
  nameOf,
  namedSchemas,
  parseDateTime,
  parseEmail,
} from '@latchkey/contract';
import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify';

import type { App } from './app-instance.ts';
import { withNamesOf } from './validation/explain.ts';

const named = new Map<string, object>(namedSchemas.map((schema) => [nameOf(schema), schema]));

/**
 * The options of Ajv, which only decides whether a request is valid; `explainRequest` lists the faults.
 * Nothing is coerced or removed. The formats are stricter than usual where the database is.
 */
const ajvOptions: Parameters<ReturnType<typeof AjvCompiler>>[1] = {
  customOptions: {
    allErrors: false,
    allowUnionTypes: true,
    coerceTypes: false,
    removeAdditional: false,
    useDefaults: true,
    // The linter of openapi.json validates the schemas; doing so here would slow every start.
    validateSchema: false,
  },
  onCreate: (ajv) => {
    ajv.addFormat('text', isStorableText);
    ajv.addFormat('uuid', isUuid);
    ajv.addFormat('date-time', (text: string) => parseDateTime(text) !== undefined);
    ajv.addFormat('email', (text: string) => 'email' in parseEmail(text));
  },
};

/** Shared by all instances of a process, so that each schema is compiled once. */
const buildValidators = AjvCompiler();
const buildSerializers = SerializerSelector();
const validators = once(() => buildValidators(Object.fromEntries(named), ajvOptions));
const serializers = new WeakMap<object, Serializer>();

/**
 * Lets each schema be compiled by the first request that needs it. Fastify compiles all of them before it listens, which
 * takes longer than the rest of the start together.
 */
export function compileSchemasOnDemand(app: App): void {
  app.setValidatorCompiler((route) => {
    const compiled = once(() => compileValidator(route));
    return route.httpPart === 'headers'
      ? delayValidator(compiled, (headers) => withNamesOf(route.schema, headers))
      : delayValidator(compiled, (data) => data);
  });
  app.setSerializerCompiler((route) => {
    const compiled = once(() => compileSerializer(route));
    return (data) => compiled()(data);
  });
}

type Validator = ReturnType<FastifySchemaCompiler<unknown>>;
type Serializer = ReturnType<FastifySerializerCompiler<object>>;

/** Compiles the schema of a part of a request. */
export const compileValidator: FastifySchemaCompiler<unknown> = (route) =>
  validators()({ ...route });

/** Compiles the schema of an answer. */
export const compileSerializer: FastifySerializerCompiler<object> = (route) => {
  const { schema } = route;
  const known = serializers.get(schema);
  const serializer =
    known ?? buildSerializers(listReferenced(schema))({ httpStatus: '', ...route });
  serializers.set(schema, serializer);
  return serializer;
};

/** Lists the named schemas that a schema needs: compiling it takes three times as long with all of them. */
function listReferenced(schema: object): Record<string, object> {
  const found = new Map<string, object>();
  const pending = [schema];
  for (const each of pending) {
    for (const [, name = ''] of JSON.stringify(each).matchAll(/"\$ref":"([^"#]+)#/g)) {
      const target = named.get(name);
      if (target === undefined || found.has(name)) continue;
      found.set(name, target);
      pending.push(target);
    }
  }
  return Object.fromEntries(found);
}

/** @param toValue returns the value that the schema describes */
function delayValidator(
  compiled: () => Validator,
  toValue: (data: Parameters<Validator>[0]) => unknown,
): Validator {
  const validate: Validator = (data) => {
    const isValid = compiled()(toValue(data)) === true;
    validate.errors = compiled().errors ?? null;
    return isValid;
  };
  return validate;
}

/** Calls a function at the first call, and returns its result then and later. */
function once<Result extends object>(create: () => Result): () => Result {
  let result: Result | undefined;
  return () => (result ??= create());
}
