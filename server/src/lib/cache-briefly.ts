/**
 * Caches the result of a function for a short time. Callers within that time share one call, as do those that arrive while it
 * runs.
 * @param nowMs the time; when it was set back, the value is loaded again
 */
export function cacheBriefly<T>(
  nowMs: () => number,
  freshMs: number,
  load: () => Promise<T>,
): () => Promise<T> {
  let kept: { readonly at: number; readonly value: Promise<T>; done: boolean } | null = null;
  return () => {
    const at = nowMs();
    // The distance, because a clock that was set back must not extend the age.
    if (kept !== null && (!kept.done || Math.abs(at - kept.at) < freshMs)) return kept.value;
    const value = load();
    const run = { at, value, done: false };
    const note = (): void => {
      run.done = true;
    };
    value.then(note, note);
    kept = run;
    return value;
  };
}
