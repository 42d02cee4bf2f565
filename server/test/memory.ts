import { readFile } from 'node:fs/promises';

/** Returns the resident memory of a process in MiB. Linux only. */
export async function readMemoryMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/mu.exec(status) ?? [];
  return Number(kibibytes) / 1024;
}
