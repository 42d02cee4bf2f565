/** So many rows a report has at most; what is asked for in more detail is asked for a shorter time. */
export const MAX_REPORT_ROWS = 10_000;
