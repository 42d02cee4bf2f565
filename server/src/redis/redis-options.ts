/** A request waits no longer than this for a reply; then the limits count on this machine. */
export const COMMAND_TIMEOUT_MS = 300;

/** A start waits no longer than this for the connection. */
export const CONNECT_TIMEOUT_MS = 2_000;

/** Returns the options of a connection. @param url of the scheme redis, rediss, valkey or valkeys */
export function optionsOf(url: string) {
  return {
    url: url.replace(/^valkey/iu, 'redis'),
    RESP: 2,
    disableOfflineQueue: true,
  } as const;
}
