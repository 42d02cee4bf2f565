/**
 * Waits for work until a deadline; the work continues after it.
 * @param message of the error after the deadline
 * @throws Error
 */
export async function withDeadline<Result>(
  ms: number,
  message: string,
  work: Promise<Result>,
): Promise<Result> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(message)), ms);
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}
