/**
 * Finds what `nginx -t` says, with exit code 0, of a server block that will never answer: another one has its name already.
 * Only what was not said before a change counts.
 * @returns the lines
 */
export function findFatalWarnings(
  before: readonly string[],
  after: readonly string[],
  domain: string,
): readonly string[] {
  const known = new Set(before.map(readMessage));
  return after.filter(
    (line) => line.includes(`conflicting server name "${domain}"`) && !known.has(readMessage(line)),
  );
}

/** Without the time and the number of the process that nginx may put in front. */
function readMessage(line: string): string {
  return line.slice(Math.max(0, line.indexOf('[warn]'))).trim();
}
