/** The log of the agent. */
export interface Log {
  /** @param fields facts for programs; never secrets */
  warn(message: string, fields?: Readonly<Record<string, string | number>>): void;
}

/** Writes one JSON object per line, with the time in UTC, as the service does. */
export function createLog(write: (line: string) => void): Log {
  return {
    warn(message, fields = {}) {
      const time = new Date().toISOString();
      write(`${JSON.stringify({ level: 'warn', time, ...fields, msg: message })}\n`);
    },
  };
}
