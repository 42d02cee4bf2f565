import type { LicenseDependencies } from '../../licenses/dependencies.ts';
import { answerInWords, type Answer } from '../answer.ts';
import type { RequestFields } from '../read-fields.ts';
import { activateInstance } from './activate-instance.ts';
import { refuseUnknownKey, type Outcome } from './answer.ts';
import { deactivateInstance } from './deactivate-instance.ts';
import { validateInstance } from './validate-instance.ts';

type Field = 'license_key' | 'instance_name' | 'instance_id';

type Handle = (deps: LicenseDependencies, request: Request) => Promise<Answer>;

/** The fields of a request that the operation requires, and the client's network. */
interface Request {
  readonly field: (name: Field) => string;
  readonly instanceId: string | null;
  readonly network: string;
}

/** The operations of Lemon Squeezy's License API, by the last part of their path. */
const OPERATIONS = {
  activate: (deps, { field, network }) =>
    activateInstance(deps, { key: field('license_key'), name: field('instance_name'), network }),
  validate: (deps, { field, instanceId, network }) =>
    validateInstance(deps, { key: field('license_key'), instanceId, network }),
  deactivate: (deps, { field, network }) =>
    deactivateInstance(deps, {
      key: field('license_key'),
      instanceId: field('instance_id'),
      network,
    }),
} as const satisfies Record<string, Handle>;

export type LemonSqueezyOperation = keyof typeof OPERATIONS;

const OUTCOMES: Readonly<Record<LemonSqueezyOperation, Outcome>> = {
  activate: 'activated',
  validate: 'valid',
  deactivate: 'deactivated',
};

export const LEMON_SQUEEZY_OPERATIONS: readonly LemonSqueezyOperation[] = [
  'activate',
  'validate',
  'deactivate',
];

class MissingFieldError extends Error {
  readonly field: Field;

  constructor(field: Field) {
    super(`The ${field.replaceAll('_', ' ')} field is required.`);
    this.field = field;
  }
}

/** Answers a request as Lemon Squeezy does: https://docs.lemonsqueezy.com/api/license-api. */
export async function handleLemonSqueezy(
  deps: LicenseDependencies,
  operation: LemonSqueezyOperation,
  fields: RequestFields,
  network: string,
): Promise<Answer> {
  const outcome = OUTCOMES[operation];
  const instanceId = fields.get('instance_id') ?? null;
  const request = { field: requireFieldOf(fields), instanceId, network };
  const words = {
    unknownKey: refuseUnknownKey(outcome),
    toBody: (error: string) => ({ [outcome]: false, error }),
  };
  try {
    return await answerInWords(async () => OPERATIONS[operation](deps, request), words);
  } catch (error) {
    if (!(error instanceof MissingFieldError)) throw error;
    const { field, message } = error;
    const errors = { [field]: [message] };
    return { status: 422, body: { ...words.toBody(message), message, errors } };
  }
}

function requireFieldOf(fields: RequestFields): (name: Field) => string {
  return (name) => {
    const value = fields.get(name);
    if (value === undefined) throw new MissingFieldError(name);
    return value;
  };
}
