/**
 * What the kernel says of a file that this machine lacks, that vanished (a device was unplugged, a process ended), that
 * the driver cannot read just now, or that we may not read.
 */
const MISSING = new Set([
  'ENOENT',
  'ENOTDIR',
  'ENODEV',
  'ENXIO',
  'ESRCH',
  'EINVAL',
  'EOPNOTSUPP',
  'ENOTSUP',
  'ENODATA',
  'EAGAIN',
  'EBUSY',
  'EIO',
  'EREMOTEIO',
  'ETIMEDOUT',
  'EACCES',
  'EPERM',
]);

/** Whether an error of a read only means that there is nothing to read. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && MISSING.has(String(error.code));
}
