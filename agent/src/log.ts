/** Identifies a log line for programs. docs/operations/agent.md describes each event and its fields. */
export type LogEvent =
  | ClientEvent
  | 'agent.reload_failed'
  | 'collector.failed'
  | 'collector.incomplete'
  | 'collector.suspended'
  | 'control_socket.failed'
  | 'control_socket.open_failed'
  | 'systemd.notify_failed';

/** The events about a client, which have its `address` and a `reason`. */
export type ClientEvent =
  | 'stream.connection_refused'
  | 'stream.handshake_failed'
  | 'stream.metrics_failed'
  | 'stream.page_build_failed'
  | 'stream.request_refused'
  | 'stream.viewer_dropped'
  | 'stream.viewer_refused';

/** The log of the agent. */
export interface Log {
  /**
   * @param message starts with what failed
   * @param fields facts for programs; never secrets
   */
  warn(event: LogEvent, message: string, fields?: Readonly<Record<string, string | number>>): void;
}

/** Writes one JSON object per line, with the time in UTC, as the service does. */
export function createLog(write: (line: string) => void): Log {
  return {
    warn(event, message, fields = {}) {
      const time = new Date().toISOString();
      write(`${JSON.stringify({ level: 'warn', time, event, ...fields, msg: message })}\n`);
    },
  };
}
