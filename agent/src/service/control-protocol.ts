/** What is said over the control socket: one line asks, one line of JSON answers. */
export const RELOAD = 'reload\n';

/** An answer holds a sentence with a path or two. */
export const MAX_LINE_BYTES = 16 * 1024;

/** What came of it. */
export interface ControlAnswer {
  /** Why it was not done; null when it was. */
  readonly problem: string | null;
}

export function encodeAnswer(answer: ControlAnswer): string {
  return `${JSON.stringify(answer)}\n`;
}

/** @throws SyntaxError when it is no answer */
export function decodeAnswer(text: string): ControlAnswer {
  const answer: unknown = JSON.parse(text);
  if (typeof answer === 'object' && answer !== null && 'problem' in answer) {
    const { problem } = answer;
    if (problem === null || typeof problem === 'string') return { problem };
  }
  throw new SyntaxError('It is no answer of an agent.');
}
