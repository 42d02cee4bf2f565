import type { AgentNotice } from '@latchkey/contract';

import type { Notice } from '../notices.ts';

/** A list of notices, as viewers receive it. */
export interface NoticeList {
  readonly notices: AgentNotice[];
  readonly notices_omitted?: number;
}

/** More is rarely read, and would exceed 0.4 kB a second. */
const MAX_LIST_BYTES = 1000;

const MAX_SUBJECT_LENGTH = 80;

/** The limit of announced bytes within a minute, because a value at its limit could change the list at each tick. */
const MAX_WINDOW_BYTES = 4500;
const WINDOW_MS = 60_000;

/** Remembers since when each problem exists, and announces changed lists at a limited rate. */
export class NoticeBoard {
  /** The start of each present problem, by its kind and subject. */
  #since: ReadonlyMap<string, string> = new Map();
  #announced: { readonly list: NoticeList; readonly text: string } | null = null;
  /** The announcements of the last minute. */
  #recent: readonly { readonly atMs: number; readonly bytes: number }[] = [];

  /** The list that all viewers have; null before the first. */
  get announced(): NoticeList | null {
    return this.#announced?.list ?? null;
  }

  /**
   * Updates the present problems.
   * @param time the time of the snapshot, by the clock of the machine
   * @param atMs the monotonic time
   * @returns the list to announce now; null when it is unchanged, or the limit is reached: a later call announces it
   */
  update(present: readonly Notice[], time: string, atMs: number): NoticeList | null {
    const notices = this.#remember(present, time);
    const list = limitList(notices.toSorted(compare));
    const text = JSON.stringify(list);
    if (text === this.#announced?.text) return null;
    const recent = [
      ...this.#recent.filter((each) => atMs - each.atMs < WINDOW_MS),
      { atMs, bytes: Buffer.byteLength(text) },
    ];
    if (recent.reduce((sum, { bytes }) => sum + bytes, 0) > MAX_WINDOW_BYTES) return null;
    this.#recent = recent;
    this.#announced = { list, text };
    return list;
  }

  /** Forgets the announced list: without viewers nobody has it, and it becomes outdated. */
  clear(): void {
    this.#announced = null;
    this.#recent = [];
  }

  #remember(present: readonly Notice[], time: string): AgentNotice[] {
    const notices = present.map(({ code, severity, ...rest }): AgentNotice => ({
      code,
      severity,
      since: this.#since.get(keyOf({ code, ...rest })) ?? time,
      ...rest,
      ...(rest.subject === undefined ? {} : { subject: shorten(rest.subject) }),
    }));
    this.#since = new Map(present.map((each, at) => [keyOf(each), notices[at]?.since ?? time]));
    return notices;
  }
}

/** Identifies a problem, whatever its present value. */
function keyOf({ code, subject = '' }: Pick<Notice, 'code' | 'subject'>): string {
  return `${code} ${subject}`;
}

/** Errors first, then the oldest. */
function compare(one: AgentNotice, other: AgentNotice): number {
  if (one.severity !== other.severity) return one.severity === 'error' ? -1 : 1;
  return one.since.localeCompare(other.since);
}

function shorten(text: string): string {
  return text.length <= MAX_SUBJECT_LENGTH ? text : `${text.slice(0, MAX_SUBJECT_LENGTH - 1)}…`;
}

/** Keeps the first notices that fit. */
function limitList(notices: readonly AgentNotice[]): NoticeList {
  let bytes = 0;
  const kept = notices.filter((each) => {
    bytes += Buffer.byteLength(JSON.stringify(each)) + 1;
    return bytes <= MAX_LIST_BYTES;
  });
  const omitted = notices.length - kept.length;
  return { notices: kept, ...(omitted === 0 ? {} : { notices_omitted: omitted }) };
}
