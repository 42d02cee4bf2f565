/** A filesystem that is shown. */
export interface ChosenMount extends Mount {
  /** Served by another machine or a program. */
  readonly network: boolean;
  /** Whether it, or a mount above it, may hang: it must not be read on the main thread. */
  readonly mayHang: boolean;
}

/** At most this many are shown. */
const MAX_MOUNTS = 64;

const NETWORK =
  /^(nfs|nfs4|cifs|smb3|smbfs|9p|virtiofs|ceph|glusterfs|lustre|gpfs|beegfs|ocfs2|gfs2|afs|ncpfs|fuse|fuse\..+)$/;

/** A local disk served by a program (NTFS). */
const FUSE_BLOCK = 'fuseblk';

/** Types that desktops, containers and package managers mount for themselves. */
const EXCLUDED_TYPES =
  /^(squashfs|erofs|iso9660|udf|autofs|nsfs|tmpfs|devtmpfs|fuse\.(gvfsd-fuse|portal|lxcfs|snapfuse|squashfuse|fuse-overlayfs))$/;

/** Single files that container engines bind from the host. */
const BOUND_FILE = /^\/(etc\/(hosts|hostname|resolv\.conf)|run\/host\/.+)$/;

/** Types that store files although their device is not in /dev. */
const WITHOUT_DEVICE = /^(zfs|btrfs|bcachefs|ubifs)$/;

/** Selects the filesystems that store files: each once, at its shortest mount point. */
export function chooseMounts(mounts: readonly Mount[]): ChosenMount[] {
  // A later mount hides an earlier one at the same point.
  const visible = new Map(mounts.map((mount) => [mount.mountPoint, mount]));
  const hanging = [...visible.values()].filter(mayHangItself).map(toPrefix);
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

function mayHangItself({ type }: Mount): boolean {
  return type === FUSE_BLOCK || NETWORK.test(type);
}

/** Returns the prefix of all paths in a mount, including its own. */
function toPrefix({ mountPoint }: Mount): string {
  return mountPoint === '/' ? '/' : `${mountPoint}/`;
}

function isStorage({ type, device, mountPoint }: Mount): boolean {
  if (EXCLUDED_TYPES.test(type) || BOUND_FILE.test(mountPoint)) return false;
  // The root of a container is an overlay.
  if (type === 'overlay') return mountPoint === '/';
  return device.startsWith('/dev/') || NETWORK.test(type) || WITHOUT_DEVICE.test(type);
}

/** Identifies a filesystem: subvolumes of btrfs and bind mounts share one; ZFS datasets and FUSE mounts by `/dev/fuse` do not. */
function keyOf({ device, number, type }: Mount): string {
  const isByDevice = device.startsWith('/dev/') && !NETWORK.test(type);
  return isByDevice ? device : `${number} ${device}`;
}

/** Prefers the root of a filesystem to a part of it, then the shorter path. */
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
  /** The mounted directory of the filesystem; `/` is all of it. */
  readonly root: string;
  /** Whether the filesystem itself is read-only, rather than the mount: systemd mounts everything read-only for a service. */
  readonly readOnly: boolean;
}

/**
 * `36 35 98:0 /root /mount/point rw,noatime shared:1 master:2 - ext3 /dev/root rw,errors=continue`, proc_pid_mountinfo(5).
 * Any number of optional fields follow the options, before the hyphen.
 */
const LINE =
  /^\d+ \d+ (?<number>\d+:\d+) (?<root>\S+) (?<mountPoint>\S+) \S+(?: \S+)*? - (?<type>\S+) (?<device>\S*) (?<superOptions>\S*)/;

/** Parses /proc/self/mountinfo, in mount order. */
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

/** The kernel escapes spaces, tabs, line feeds and backslashes as octal numbers. */
function unescape(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCodePoint(Number.parseInt(octal, 8)),
  );
}
