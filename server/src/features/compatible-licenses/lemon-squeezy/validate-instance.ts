import type { LicenseDependencies } from '../../licenses/dependencies.ts';
import type { Answer } from '../answer.ts';
import { answer, refuse, refuseUnknownKey } from './answer.ts';
import { findKeyProblem, INSTANCE_NOT_FOUND } from './describe.ts';
import { findCountedInstance } from './find-instance.ts';
import { findByRequest, readShown, type InstanceRequest } from './find-shown.ts';

/**
 * Validates a key, and the machine if the program names one; its validation is counted.
 * @throws licenseNotFound (404), rateLimited (429)
 */
export async function validateInstance(
  deps: LicenseDependencies,
  request: InstanceRequest,
): Promise<Answer> {
  const { key, instanceId } = request;
  const found = await findByRequest(deps, request);
  if (found === null) return refuseUnknownKey('valid');
  const now = deps.clock.now();
  const shown = await readShown(deps, found, key);
  const problem = findKeyProblem(shown, now);
  if (problem !== null) return refuse('valid', problem, shown, now);
  if (instanceId === null) return answer('valid', shown, null, now);
  const instance = await findCountedInstance(deps, found, instanceId);
  return instance === null
    ? refuse('valid', INSTANCE_NOT_FOUND, shown, now, 404)
    : answer('valid', shown, instance, now);
}
