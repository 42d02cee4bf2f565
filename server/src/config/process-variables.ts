/** Variables that Node.js and the database driver read from the process, not from `.env`. */
import { codeOf, messageOf } from '#server/lib/unknown-values.ts';

import type { ReadText, Variables } from './env.ts';

const OF_THE_PROCESS =
  /^(?:NODE_EXTRA_CA_CERTS|NODE_OPTIONS|SSL_CERT_FILE|SSL_CERT_DIR|PG(?:SSL[A-Z]+|CHANNELBINDING|PASSWORD|PASSFILE|USER))$/u;

/** Returns a sentence for each variable of `.env` that has no effect there. */
export function findLateVariables(dotEnv: Variables, variables: Variables): string[] {
  return Object.keys(dotEnv)
    .filter((name) => OF_THE_PROCESS.test(name) && variables[name] === undefined)
    .map(
      (name) =>
        `${name} has no effect in .env, because the process reads it before: set it in the environment of the service.`,
    );
}

/** Returns a sentence if Node.js cannot read the certificates of NODE_EXTRA_CA_CERTS, which it then ignores. */
export function findAuthorityProblems(path: string | undefined, readText: ReadText): string[] {
  if (path === undefined || path === '') return [];
  try {
    if (/-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/u.test(readText(path))) return [];
    return [`NODE_EXTRA_CA_CERTS names ${path}, which contains no certificate in PEM format.`];
  } catch (error) {
    const reason = codeOf(error) ?? messageOf(error);
    return [`NODE_EXTRA_CA_CERTS names ${path}, which cannot be read (${reason}).`];
  }
}
