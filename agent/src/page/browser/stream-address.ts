/** Where the stream is: at the page's own address, whatever path a proxy gave it. */
export function toStreamUrl(pageUrl: string): string {
  const { protocol, host, pathname } = new URL(pageUrl);
  return `${protocol === 'http:' ? 'ws:' : 'wss:'}//${host}${pathname}`;
}

/** Where the agent says whether it would let the page watch, and why not. */
export function toQuestionUrl(pageUrl: string): string {
  const { origin, pathname } = new URL(pageUrl);
  return `${origin}${pathname}?admission`;
}
