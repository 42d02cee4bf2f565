const MARK = 'dismissed: ';

/** What is written down of an event that an operator is done with. */
export function describeDismissal(reason: string): string {
  return `${MARK}${reason}`;
}

/** Whether an operator said of an event that nothing is to come of it. */
export function isDismissed({
  status,
  message,
}: {
  readonly status: string;
  readonly message: string | null;
}): boolean {
  return status === 'ignored' && message !== null && message.startsWith(MARK);
}
