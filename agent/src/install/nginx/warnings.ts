/**
 * Finds new warnings of `nginx -t` about a server block that will never answer, because another one has its name.
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

/** Returns a warning without its time and process number. */
function readMessage(line: string): string {
  return line.slice(Math.max(0, line.indexOf('[warn]'))).trim();
}
