/**
 * Waits for answers until all have arrived, or for a time after the first sufficient one. Returns those that have arrived, in
 * the order of the calls.
 * @param calls must not reject
 */
export async function collectAnswers<Answer>(
  calls: readonly Promise<Answer>[],
  isSufficient: (answer: Answer) => boolean,
  graceMs: number,
): Promise<Answer[]> {
  const arrived = new Map<number, Answer>();
  const { promise: graceIsOver, resolve } = Promise.withResolvers<void>();
  const timers: NodeJS.Timeout[] = [];
  const collect = async (call: Promise<Answer>, index: number): Promise<void> => {
    const answer = await call;
    arrived.set(index, answer);
    if (timers.length === 0 && isSufficient(answer)) timers.push(setTimeout(resolve, graceMs));
  };
  await Promise.race([Promise.all(calls.map(collect)), graceIsOver]);
  for (const timer of timers) clearTimeout(timer);
  return [...arrived].toSorted(([one], [other]) => one - other).map(([, answer]) => answer);
}
