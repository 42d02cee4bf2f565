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
import type { FastifySchemaCompiler } from 'fastify';

import type { App } from './app-instance.ts';
import { withNamesOf } from './validation/explain.ts';

/** Shared by all instances of a process, so that each schema is compiled once. */
const buildValidators = AjvCompiler();
const buildSerializers = SerializerSelector();

/**
 * The options of Ajv, which only decides whether a request is valid; `explainRequest` lists the faults.
 * Nothing is coerced or removed. The formats are stricter than usual where the database is.
 */
export const ajvOptions: Parameters<typeof buildValidators>[1] = {
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

/**
 * Lets each schema be compiled by the first request that needs it. Fastify compiles all of them before it listens, which
 * takes longer than the rest of the start together.
 */
export function compileSchemasOnDemand(app: App): void {
  const named = Object.fromEntries(namedSchemas.map((schema) => [nameOf(schema), schema]));
  const validators = once(() => buildValidators(named, ajvOptions));
  const serializers = once(() => buildSerializers({ ...named }));
  app.setValidatorCompiler((route) => {
    const compiled = once(() => validators()({ ...route }));
    return route.httpPart === 'headers'
      ? delayValidator(compiled, (headers) => withNamesOf(route.schema, headers))
      : delayValidator(compiled, (data) => data);
  });
  app.setSerializerCompiler((route) => {
    const compiled = once(() => serializers()({ httpStatus: '', ...route }));
    return (data) => compiled()(data);
  });
}

type Validator = ReturnType<FastifySchemaCompiler<unknown>>;

/** @param toValue returns the value that the schema describes */
function delayValidator(
  compiled: () => ReturnType<ReturnType<typeof buildValidators>>,
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
