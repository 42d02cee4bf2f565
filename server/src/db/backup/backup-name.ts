/** The names of backups in a directory: `latchkey backup` chooses them, and recognizes its own by them. */
const NAME = /^latchkey-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.zst$/u;

/** Returns the name of a backup that begins now, in UTC: latchkey-2026-11-28T01-02-03Z.zst. */
export function nameBackup(now: Date): string {
  return `latchkey-${now.toISOString().slice(0, 19).replaceAll(':', '-')}Z.zst`;
}

/** Whether {@link nameBackup} may have chosen a name. */
export function isBackupName(name: string): boolean {
  return NAME.test(name);
}

/** Returns the process that writes, or wrote, the unfinished file of a backup with a chosen name; null for any other name. */
export function writerOf(name: string): number | null {
  const { target = '', pid } =
    /^\.(?<target>.+)\.(?<pid>\d{1,10})\.partial$/u.exec(name)?.groups ?? {};
  return isBackupName(target) ? Number(pid) : null;
}
