/** Where the agent says what somebody should look at. */
export interface Log {
  /** @param fields what a program would look for; never anything secret */
  warn(message: string, fields?: Readonly<Record<string, string | number>>): void;
}

/** One JSON object per line, with the time in UTC, as the service logs. */
export function createLog(write: (line: string) => void): Log {
  return {
    warn(message, fields = {}) {
      const time = new Date().toISOString();
      write(`${JSON.stringify({ level: 'warn', time, ...fields, msg: message })}\n`);
    },
  };
}
