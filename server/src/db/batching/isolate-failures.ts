import { isConnectionFailure } from '../database-errors.ts';
import { retryConflicts } from '../transaction.ts';

/** The outcome of one input of a batch. */
export type BatchResult<Output> =
  | { readonly ok: true; readonly output: Output }
  | { readonly ok: false; readonly error: unknown };

/**
 * Runs a batch so that an error affects only the input that causes it: a failed batch is rolled back as a whole, then
 * bisected until the rejected input is alone. A deadlock or serialization conflict is retried first, here and nowhere
 * below: `execute` must not retry. When the database is unavailable, all inputs fail at once.
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
