import { writeSync } from 'node:fs';

/** `EX_CONFIG` of sysexits.h, as the service uses it too. */
const CONFIGURATION_EXIT_CODE = 78;

/**
 * Writes one line to standard error synchronously, because the process may be replaced or end next.
 * @param {string} sentence
 */
export function printNote(sentence) {
  writeSync(2, `${sentence}\n`);
}

/**
 * Ends the process with one sentence for its user.
 * @param {string} sentence
 * @param {number} exitCode
 * @returns {never}
 */
export function exitWithError(sentence, exitCode = CONFIGURATION_EXIT_CODE) {
  printNote(sentence);
  process.exit(exitCode);
}
