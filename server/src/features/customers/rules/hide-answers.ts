type Row = Readonly<Record<string, unknown>>;

/**
 * Removes the answers of endpoints from their attempts, except those that contain the address: others are not about the person, and
 * may be of an internal page, which only administrators may read.
 * @param spellings of the address, in lower case
 */
export function hideAnswers(attempts: readonly Row[], spellings: readonly string[]): Row[] {
  return attempts.map((attempt) => {
    const { answer } = attempt;
    const text = typeof answer === 'string' ? answer.toLowerCase() : '';
    const isAboutPerson = spellings.some((spelling) => text.includes(spelling));
    return isAboutPerson ? attempt : { ...attempt, answer: null };
  });
}
