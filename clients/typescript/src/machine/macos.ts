/** The identity of macOS: the UUID of the hardware. */

/** The program and its arguments. */
export const MACOS_COMMAND = [
  '/usr/sbin/ioreg',
  '-rd1',
  '-c',
  'IOPlatformExpertDevice',
] as const satisfies readonly [string, ...string[]];

/** Reads what `ioreg` prints; null without a UUID. */
export function readIoregOutput(output: string): string | null {
  return /"IOPlatformUUID" = "(?<uuid>[\w-]+)"/.exec(output)?.groups?.['uuid'] ?? null;
}
