import { isConnectionFailure } from '../database-errors.ts';
import { retryConflicts } from '../transaction.ts';

/** One caller's share of a batch. */
export type BatchResult<Output> =
  | { readonly ok: true; readonly output: Output }
  | { readonly ok: false; readonly error: unknown };

/**
 * Runs a batch so that one input's error stays its own. A statement fails as a whole and rolls back as a whole, so a
 * failed batch is cut in half until the input that the database refuses stands alone; the others get their outputs.
 * A database that cannot be reached fails everyone at once: halving would only knock at a closed door again and again.
 */
export async function isolateFailures<Input, Output>(
  inputs: readonly Input[],
  execute: (inputs: readonly Input[]) => Promise<readonly Output[]>,
): Promise<BatchResult<Output>[]> {
  try {
    const outputs = await retryConflicts(() => execute(inputs));
    return outputs.map((output) => ({ ok: true, output }));
  } catch (error) {
    if (inputs.length === 1 || isConnectionFailure(error)) {
      return inputs.map(() => ({ ok: false, error }));
    }
    const middle = Math.ceil(inputs.length / 2);
    const first = await isolateFailures(inputs.slice(0, middle), execute);
    const second = await isolateFailures(inputs.slice(middle), execute);
    return [...first, ...second];
  }
}
