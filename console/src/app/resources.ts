/** The cache of the console, and the hook with which pages read it. */
import { effect } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

import { ApiError } from './api-error.ts';
import { apiGet, isReachable } from './api.ts';
import { FRESH_MS, ResourceCache } from './cache.ts';

const cache = new ResourceCache({
  load: (path) => apiGet(path),
  nowMs: () => performance.now(),
});

/** How often an unreachable service is tried again. */
const RETRY_MS = 3_000;

/** A resource of the interface. */
export interface Resource<Body> {
  /** The last answer; undefined before the first. */
  readonly data: Body | undefined;
  /** Why the last load failed. `data` may still have an earlier answer. */
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/**
 * Reads a resource, and reads it again when it was invalidated and when the window gets the focus.
 * @param path such as `/api/v1/admin/licenses?status=active`; null: nothing yet
 * @param polls whether it is also read while the window is visible: every 10 seconds, in turn with others that the page polls
 */
export function useResource<Body>(path: string | null, { polls = false } = {}): Resource<Body> {
  // Before the page is painted: the request is what a page waits for.
  useLayoutEffect(() => (path === null ? undefined : cache.use(path, polls)), [path, polls]);
  const state = path === null ? undefined : cache.read(path).value;
  const { data, error } = state ?? {};
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller names the type of its path, as with `apiGet`.
    data: data as Body | undefined,
    error: toApiError(error),
    // Before the first load begins, there is neither an answer nor an error.
    isLoading: state !== undefined && (state.isLoading || (data ?? error) === undefined),
    reload: () => {
      if (path !== null) void cache.reload(path);
    },
  };
}

/** Returns a thrown value as an error of the interface. */
export function toApiError(error: unknown): ApiError | undefined {
  if (error === undefined || error instanceof ApiError) return error;
  const message = error instanceof Error ? error.message : 'The page failed.';
  return new ApiError('unknown', 0, message);
}

/** Marks the resources below a path as changed, so that pages that show them read them again. */
export function invalidate(prefix: string): void {
  void cache.invalidate(prefix);
}

/** Like {@link invalidate}; resolves when what is shown was read again. */
export function readAgain(prefix: string): Promise<void> {
  return cache.invalidate(prefix);
}

/** Forgets all resources. */
export function forgetResources(): void {
  cache.clear();
}

/** @throws ApiError */
type ReadSession = () => Promise<void>;

function isVisible(): boolean {
  return document.visibilityState === 'visible';
}

/**
 * Starts refreshing: at focus, every 10 seconds for pages that ask for it, and when the service answers again.
 * @param readSession reads the operator again
 */
export function startRefreshing(readSession: ReadSession): void {
  let readAtMs = performance.now();
  const refresh = (): void => {
    if (!isVisible()) return;
    cache.refresh();
    if (performance.now() - readAtMs < FRESH_MS) return;
    readAtMs = performance.now();
    readSession().catch(ignore);
  };
  document.addEventListener('visibilitychange', refresh);
  globalThis.addEventListener('focus', refresh);
  globalThis.addEventListener('online', refresh);
  setInterval(() => {
    if (isVisible() && isReachable.peek()) cache.poll();
  }, FRESH_MS);
  effect(() => (isReachable.value ? undefined : retryUntilReachable(readSession)));
}

/** Asks an unreachable service until it answers, then reads again what is shown. */
function retryUntilReachable(readSession: ReadSession): () => void {
  const timer = setInterval(() => {
    if (isVisible()) void tryAgain(readSession);
  }, RETRY_MS);
  return () => clearInterval(timer);
}

async function tryAgain(readSession: ReadSession): Promise<void> {
  await readSession().catch(ignore);
  if (isReachable.peek()) invalidate('');
}

/** The service is unreachable, which the banner shows, or nobody is signed in. */
function ignore(): void {}
