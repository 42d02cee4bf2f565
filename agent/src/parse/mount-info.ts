/** A line of /proc/self/mountinfo. */
export interface Mount {
  readonly mountPoint: string;
  readonly device: string;
  readonly type: string;
  /** Major and minor number of the filesystem, which its bind mounts share. */
  readonly number: string;
  /** What of the filesystem is mounted: all of it, or a directory. */
  readonly root: string;
  /** Of the filesystem itself: systemd mounts everything read-only for a service, and that says nothing of the machine. */
  readonly readOnly: boolean;
}

/**
 * `36 35 98:0 /root /mount/point rw,noatime shared:1 master:2 - ext3 /dev/root rw,errors=continue`, proc_pid_mountinfo(5).
 * Between the options and the hyphen stand any number of optional fields.
 */
const LINE =
  /^\d+ \d+ (?<number>\d+:\d+) (?<root>\S+) (?<mountPoint>\S+) \S+(?: \S+)*? - (?<type>\S+) (?<device>\S*) (?<superOptions>\S*)/;

/** Reads /proc/self/mountinfo, in the order of mounting. */
export function parseMountInfo(text: string): Mount[] {
  return text.split('\n').flatMap((line) => {
    const fields = LINE.exec(line)?.groups;
    if (fields === undefined) return [];
    const { number = '', root = '', mountPoint = '', type = '', device = '' } = fields;
    const readOnly = /(^|,)ro(,|$)/.test(fields['superOptions'] ?? '');
    return [
      { mountPoint: unescape(mountPoint), device: unescape(device), type, number, root, readOnly },
    ];
  });
}

/** The kernel writes spaces, tabs, line feeds and backslashes as octal numbers. */
function unescape(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCodePoint(Number.parseInt(octal, 8)),
  );
}
