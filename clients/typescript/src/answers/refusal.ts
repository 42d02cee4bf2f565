import { integerOrNull, textOrNull } from '../json.ts';
import type { Problem } from './answer.ts';
import type { Refusal } from './results.ts';

/** The result of a call that the service refused. */
export function refusal({ code, body }: Problem): Refusal {
  const max = integerOrNull(body['max']);
  const current = integerOrNull(body['current']);
  const availableAt = textOrNull(body['available_at']);
  return {
    ok: false,
    code,
    ...(max === null ? {} : { max }),
    ...(current === null ? {} : { current }),
    ...(availableAt === null ? {} : { availableAt }),
  };
}
