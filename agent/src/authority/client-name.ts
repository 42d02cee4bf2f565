/** It becomes a directory and the name of files, so it is no path and no option of a program. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/u;

/** Whether this may be a client's name. */
export function isClientName(name: string): boolean {
  return NAME.test(name);
}
