/** A filesystem to show, once. */
export interface ChosenMount extends Mount {
  /** Kept by another machine, or by a program. */
  readonly network: boolean;
  /** It may not answer, or the way to it leads through one that may not: never to be asked on the main thread. */
  readonly mayHang: boolean;
}

/** More are not shown. */
const MAX_MOUNTS = 64;

const NETWORK =
  /^(nfs|nfs4|cifs|smb3|smbfs|9p|virtiofs|ceph|glusterfs|lustre|gpfs|beegfs|ocfs2|gfs2|afs|ncpfs|fuse|fuse\..+)$/;

/** A disk of this machine, which a program reads (NTFS). */
const BY_PROGRAM = 'fuseblk';

/** What a desktop, a container or a package manager mounts for itself. */
const NO_STORAGE =
  /^(squashfs|erofs|iso9660|udf|autofs|nsfs|tmpfs|devtmpfs|fuse\.(gvfsd-fuse|portal|lxcfs|snapfuse|squashfuse|fuse-overlayfs))$/;

/** Single files that container engines bind from the host: they say nothing of what this machine stores. */
const BOUND_FILE = /^\/(etc\/(hosts|hostname|resolv\.conf)|run\/host\/.+)$/;

/** They store files although what is mounted is no file in /dev. */
const WITHOUT_DEVICE = /^(zfs|btrfs|bcachefs|ubifs)$/;

/** The filesystems that store files: each once, however often it is mounted, at its shortest mount point. */
export function chooseMounts(mounts: readonly Mount[]): ChosenMount[] {
  // What is mounted over another one hides it.
  const visible = new Map(mounts.map((mount) => [mount.mountPoint, mount]));
  const hanging = [...visible.values()].filter(mayNotAnswer).map(toPrefix);
  const chosen = new Map<string, Mount>();
  for (const mount of visible.values()) {
    if (!isStorage(mount)) continue;
    const key = keyOf(mount);
    const other = chosen.get(key);
    if (other === undefined || isBetter(mount, other)) chosen.set(key, mount);
  }
  return [...chosen.values()]
    .slice(0, MAX_MOUNTS)
    .map((mount) => ({
      ...mount,
      network: NETWORK.test(mount.type),
      mayHang: hanging.some((prefix) => toPrefix(mount).startsWith(prefix)),
    }))
    .sort((a, b) => a.mountPoint.localeCompare(b.mountPoint));
}

function mayNotAnswer({ type }: Mount): boolean {
  return type === BY_PROGRAM || NETWORK.test(type);
}

/** What the paths of all that lies in a mount begin with, its own too. */
function toPrefix({ mountPoint }: Mount): string {
  return mountPoint === '/' ? '/' : `${mountPoint}/`;
}

function isStorage({ type, device, mountPoint }: Mount): boolean {
  if (NO_STORAGE.test(type) || BOUND_FILE.test(mountPoint)) return false;
  // In a container the root is an overlay.
  if (type === 'overlay') return mountPoint === '/';
  return device.startsWith('/dev/') || NETWORK.test(type) || WITHOUT_DEVICE.test(type);
}

/** Subvolumes of btrfs and bind mounts are one filesystem; datasets of ZFS, and mounts of FUSE by `/dev/fuse`, are several. */
function keyOf({ device, number, type }: Mount): string {
  const isByDevice = device.startsWith('/dev/') && !NETWORK.test(type);
  return isByDevice ? device : `${number} ${device}`;
}

/** The whole of a filesystem rather than a part of it, then the shorter path. */
function isBetter(mount: Mount, other: Mount): boolean {
  const [whole, otherWhole] = [mount.root === '/', other.root === '/'];
  if (whole !== otherWhole) return whole;
  return mount.mountPoint.length < other.mountPoint.length;
}

/** A line of /proc/self/mountinfo. */
interface Mount {
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
