import { readFileSync } from 'node:fs';

interface Status {
  readonly name: string;
  /** Its id in its own namespace. */
  readonly innermostPid: number;
}

/** Returns the first matching process below another one, parents before children. */
export function findDescendant(pid: number, isWanted: (status: Status) => boolean): number | null {
  const waiting = listChildren(pid);
  for (let child = waiting.shift(); child !== undefined; child = waiting.shift()) {
    const status = readStatus(child);
    if (status !== null && isWanted(status)) return child;
    waiting.push(...listChildren(child));
  }
  return null;
}

function listChildren(pid: number): number[] {
  const text = readOrNull(`/proc/${pid}/task/${pid}/children`) ?? '';
  return text.split(' ').filter(Boolean).map(Number);
}

function readStatus(pid: number): Status | null {
  const text = readOrNull(`/proc/${pid}/status`);
  if (text === null) return null;
  const name = /^Name:\t(.*)$/m.exec(text)?.[1] ?? '';
  const pids = /^NSpid:\t(.*)$/m.exec(text)?.[1] ?? '';
  return { name, innermostPid: Number(pids.split('\t').at(-1)) };
}

/** Null when the process has ended. */
function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
