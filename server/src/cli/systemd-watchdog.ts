import { spawn } from 'node:child_process';

/** The log of failures, which is opened only for them. */
type OpenLog = () => { warn(fields: object, message: string): void };

/** Of the watchdog's time, so that two notifications may be late or lost. */
const NOTIFICATIONS_PER_TIMEOUT = 3;

/** Timers need whole milliseconds, at most 24 days. */
const MAX_INTERVAL_MS = 60 * 60_000;

/**
 * Notifies the watchdog of systemd (`WatchdogSec=`) from now on, while the event loop of this process runs: a process that hangs is
 * restarted. Does nothing unless systemd asks for it by `NOTIFY_SOCKET` and `WATCHDOG_USEC`
 * (sd_watchdog_enabled(3)). Removes these variables from the environment: a PostgreSQL or a worker, started with them, would
 * notify, too. `WATCHDOG_PID` is not compared, since this process may be the child of npm.
 *
 * A child sends each message (systemd-notify(1)), because Node.js has no local datagram sockets; the unit needs `NotifyAccess=all`.
 * @param openLog a failure is logged once
 * @returns a function that ends it
 */
export function notifyWatchdog(environment: NodeJS.ProcessEnv, openLog: OpenLog): () => void {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: microseconds } = environment;
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete environment[name];
  const timeoutMs = Number(microseconds) / 1_000;
  if (socket === undefined || !(timeoutMs > 0)) return () => {};
  const intervalMs = Math.min(Math.ceil(timeoutMs / NOTIFICATIONS_PER_TIMEOUT), MAX_INTERVAL_MS);
  const childEnvironment = { PATH: environment['PATH'], NOTIFY_SOCKET: socket };
  let isReported = false;
  const report = (error: string): void => {
    if (isReported) return;
    isReported = true;
    const message = 'could not notify the watchdog of systemd, which will restart this process';
    openLog().warn({ event: 'systemd.notify_failed', error }, message);
  };
  const notify = (): void => sendKeepAlive(childEnvironment, intervalMs, report);
  const timer = setInterval(notify, intervalMs).unref();
  notify();
  return () => clearInterval(timer);
}

/** @param timeoutMs a child that takes longer is killed; on an idle computer it takes milliseconds */
function sendKeepAlive(
  env: NodeJS.ProcessEnv,
  timeoutMs: number,
  report: (error: string) => void,
): void {
  const options = { stdio: 'ignore', env, timeout: timeoutMs, killSignal: 'SIGKILL' } as const;
  const child = spawn('systemd-notify', ['WATCHDOG=1'], options);
  child.once('error', (error) => report(error.message));
  child.once('exit', (code, signal) => {
    // At a stop, systemd may end this child with the service.
    if (code !== 0 && signal !== 'SIGTERM') report(`systemd-notify ended with ${code ?? signal}`);
  });
}
